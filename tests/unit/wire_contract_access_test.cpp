#include "eventually.hpp"
#include "wire_contract.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

acl all_but_read() {
    return {{"world", "anyone", static_cast<permission>(30)}};
}

acl by(const std::string& scheme, const std::string& id, permission p = permission::all) {
    return {{scheme, id, p}};
}

/// Entries as "scheme:id:permissions".
std::vector<std::string> entries_in(const raw_answer& a) {
    jute_reader in(a.body);
    std::vector<std::string> all;
    for (std::int32_t left = in.number(); left > 0 && in.good(); --left) {
        const std::string allowed = std::to_string(in.number());
        const std::string scheme(in.text());
        all.push_back(scheme + ':' + std::string(in.text()) + ':' + allowed);
    }
    return all;
}

/// "scheme:user" of each identity.
std::vector<std::string> identities_of(raw_session& s) {
    const raw_answer a = s.ask(s.to(opcode::who_am_i));
    EXPECT_EQ(a.code, 0);
    jute_reader in(a.body);
    std::vector<std::string> all;
    for (std::int32_t left = in.number(); left > 0 && in.good(); --left) {
        const std::string scheme(in.text());
        all.push_back(scheme + ':' + std::string(in.text()));
    }
    EXPECT_EQ(in.left(), 0U);
    return all;
}

// ---- events ----

TEST_P(WireContractEvents, AreSentOnlyOfZnodesThatTheWatcherMayRead) {
    const auto watcher = another();
    // By exists: the znode is made later.
    for (const auto& [name, access] : {std::pair("hidden", all_but_read()),
                                       std::pair("closed", by("digest", "a:b")),
                                       std::pair("here", by("ip", "127.0.0.0/8")),
                                       std::pair("open", open_unsafe_acl())}) {
        EXPECT_EQ(watcher->read(opcode::exists, at(name), true).code, no_node);
        EXPECT_EQ(main_.create(at(name), access).code, 0);
    }
    EXPECT_THAT(seen(*watcher), ElementsAre("created " + at("here"), "created " + at("open")));
    // By all kinds of watches, set while the znode could be read.
    const auto watch_all = [&](const std::string& path) {
        EXPECT_EQ(main_.create(path).code, 0);
        EXPECT_EQ(watcher->read(opcode::exists, path, true).code, 0);
        EXPECT_EQ(watcher->read(opcode::get_children, path, true).code, 0);
    };
    watch_all(at("d"));
    EXPECT_EQ(main_.set_acl(at("d"), all_but_read()).code, 0);
    EXPECT_EQ(main_.create(at("d/c")).code, 0);
    EXPECT_EQ(main_.set(at("d"), "new").code, 0);
    EXPECT_EQ(main_.remove(at("d/c")).code, 0);
    EXPECT_EQ(main_.remove(at("d")).code, 0);
    EXPECT_THAT(seen(*watcher), IsEmpty());
}

TEST_P(WireContractEvents, OfAHiddenZnodeUseUpTheWatch) {
    const auto watcher = another();
    EXPECT_EQ(main_.create(at("a")).code, 0);
    EXPECT_EQ(watcher->read(opcode::get_data, at("a"), true).code, 0);
    EXPECT_EQ(main_.set_acl(at("a"), all_but_read()).code, 0);
    EXPECT_EQ(main_.set(at("a"), "hidden").code, 0);
    EXPECT_EQ(main_.set_acl(at("a"), open_unsafe_acl()).code, 0);
    EXPECT_EQ(main_.set(at("a"), "shown").code, 0);
    EXPECT_THAT(seen(*watcher), IsEmpty());
}

TEST_P(WireContractEvents, OfLastingWatchesRespectTheListOfEachZnode) {
    const auto watcher = another();
    EXPECT_EQ(main_.create(at("tree")).code, 0);
    EXPECT_EQ(watcher->ask(watcher->to(opcode::add_watch).text(at("tree")).number(1)).code, 0);
    EXPECT_EQ(main_.create(at("tree/open")).code, 0);
    EXPECT_EQ(main_.create(at("tree/hidden"), all_but_read()).code, 0);
    EXPECT_EQ(main_.set(at("tree/hidden"), "x").code, 0);
    EXPECT_EQ(main_.set(at("tree/open"), "x").code, 0);
    EXPECT_EQ(main_.remove(at("tree/hidden")).code, 0);
    EXPECT_THAT(seen(*watcher),
                ElementsAre("created " + at("tree/open"), "changed " + at("tree/open")));
}

TEST_P(WireContractEvents, AreSentToIdentitiesThatTheListNames) {
    const auto owner = another();
    EXPECT_EQ(owner->add_auth("digest", "jo:secret").code, 0);
    EXPECT_EQ(owner->create(at("mine"), by("auth", "")).code, 0);
    const auto other = another();
    for (raw_session* s : {owner.get(), other.get()}) {
        EXPECT_EQ(s->read(opcode::exists, at("mine/new"), true).code, no_node);
        EXPECT_EQ(s->read(opcode::exists, at("new"), true).code, no_node);
    }
    EXPECT_EQ(owner->create(at("mine/new"), by("auth", "")).code, 0);
    EXPECT_EQ(owner->create(at("new"), by("auth", "", permission::read)).code, 0);
    EXPECT_THAT(seen(*owner), ElementsAre("created " + at("mine/new"), "created " + at("new")));
    EXPECT_THAT(seen(*other), IsEmpty());
}

// ---- lists ----

TEST_P(WireContract, NetworksInListsMatchByTheirBits) {
    // The client's address is 127.0.0.1.
    const std::vector<std::pair<std::string, bool>> networks{
        {"127.0.0.1", true},    {"127.0.0.2", false},     {"127.0.0.0", false},
        {"127.0.0.0/8", true},  {"127.0.0.1/32", true},   {"127.0.0.0/32", false},
        {"127.0.0.0/31", true}, {"127.0.0.2/31", false},  {"127.0.0.2/30", true},
        {"126.0.0.0/7", true},  {"128.0.0.0/1", false},   {"0.0.0.0/0", true},
        {"255.9.9.9/0", true},  {"127.255.0.0/9", false}, {"127.127.255.255/9", true},
        {"127.000.0.01", true}, {"+127.0.0.1", true},     {"127.0.0.1/+8", true},
        {"10.0.0.0/8", false},  {"127.0.0.0/08", true}};
    int number = 0;
    for (const auto& [network, matches] : networks) {
        const std::string path = at(std::to_string(++number));
        EXPECT_EQ(main_.create(path, by("ip", network)).code, 0) << network;
        EXPECT_EQ(main_.read(opcode::get_data, path).code, matches ? 0 : no_auth) << network;
    }
}

TEST_P(WireContract, IdsThatASchemeDoesNotKnowAreRefused) {
    const std::vector<std::pair<std::string, std::string>> wrong{
        {"ip", "foo"},         {"ip", ""},           {"ip", "1.2.3"},
        {"ip", "1.2.3.4.5"},   {"ip", "300.1.1.1"},  {"ip", "-1.1.1.1"},
        {"ip", "1.2.3."},      {"ip", ".1.2.3"},     {"ip", "1.2.3.4 "},
        {"ip", "1.2.3.4/"},    {"ip", "1.2.3.4/33"}, {"ip", "1.2.3.4/-1"},
        {"ip", "1.2.3.4/8/8"}, {"ip", "1.2.3.4/x"},  {"ip", "::1"},
        {"ip", "fe80::/10"},   {"ip", "/8"},         {"ip", "1.2.3.99999999999"},
        {"digest", ""},        {"digest", "jo"},     {"digest", "::"},
        {"digest", "jo:"},     {"digest", "a:b:c"},  {"digest", ":"},
        {"digest", "a::b"},    {"world", ""},        {"world", "someone"},
        {"world", "Anyone"},   {"World", "anyone"},  {"super", ""},
        {"x509", "CN=jo"},     {"sasl", "jo"},       {"", ""},
        {"none", "x"},         {"auth", ""},         {"auth", "jo:x"}};
    EXPECT_EQ(main_.create(at("a")).code, 0);
    for (const auto& [scheme, id] : wrong) {
        EXPECT_EQ(main_.create(at("b"), by(scheme, id)).code, invalid_acl) << scheme << ':' << id;
        EXPECT_EQ(main_.set_acl(at("a"), by(scheme, id)).code, invalid_acl) << scheme << ':' << id;
        acl second = open_unsafe_acl();
        second.push_back({scheme, id, permission::all});
        EXPECT_EQ(main_.create(at("b"), second).code, invalid_acl) << scheme << ':' << id;
    }
    EXPECT_EQ(main_.create(at("b"), {}).code, invalid_acl) << "no entry at all";
    for (const char* const odd : {"a:b", ":b", "a:b:", "a:b::", " : "}) {
        // A real leader that is behind its followers still checks the list of before the change.
        EXPECT_TRUE(eventually([&] {
            EXPECT_EQ(main_.set_acl(at("a"), by("digest", odd, permission::read)).code, 0) << odd;
            return main_.set_acl(at("a"), open_unsafe_acl()).code == no_auth;
        })) << odd;
        EXPECT_EQ(main_.remove(at("a")).code, 0);
        EXPECT_EQ(main_.create(at("a")).code, 0);
    }
}

TEST_P(WireContract, EqualEntriesOfAListAreKeptOnce) {
    const acl_entry all{"world", "anyone", permission::all};
    const acl_entry read{"world", "anyone", permission::read};
    EXPECT_EQ(main_.create(at("a"), {all, read, all, read, all}).code, 0);
    EXPECT_THAT(entries_in(main_.read(opcode::get_acl, at("a"))),
                ElementsAre("world:anyone:31", "world:anyone:1"));
    EXPECT_EQ(main_.set_acl(at("a"), {all, all}).code, 0);
    EXPECT_THAT(entries_in(main_.read(opcode::get_acl, at("a"))), ElementsAre("world:anyone:31"));
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(main_.add_auth("digest", "jo:secret").code, 0);
    }
    const acl mine{{"auth", "", permission::all}, {"auth", "", permission::all}};
    EXPECT_EQ(main_.create(at("b"), mine).code, 0);
    EXPECT_EQ(entries_in(main_.read(opcode::get_acl, at("b"))).size(), 1U);
    // Two entries that differ name the identity twice.
    EXPECT_EQ(
        main_.set_acl(at("b"), {{"auth", "", permission::all}, {"auth", "x", permission::all}})
            .code,
        0);
    EXPECT_EQ(entries_in(main_.read(opcode::get_acl, at("b"))).size(), 2U);
}

TEST_P(WireContract, BitsOfPermissionsAreKeptAsTheyAre) {
    for (const std::int32_t bits : {0, 31, 64 + 1, -1}) {
        const std::string path = at("p" + std::to_string(bits));
        EXPECT_EQ(main_.create(path, by("world", "anyone", static_cast<permission>(bits))).code, 0);
        EXPECT_EQ(main_.read(opcode::get_data, path).code, (bits & 1) != 0 ? 0 : no_auth) << bits;
        if ((bits & 17) != 0) {
            EXPECT_THAT(entries_in(main_.read(opcode::get_acl, path)),
                        ElementsAre("world:anyone:" + std::to_string(bits)));
        }
    }
}

// ---- identities ----

TEST_P(WireContract, WhoAmIShowsEachIdentityOnceAndNoHash) {
    EXPECT_THAT(identities_of(main_), ElementsAre("ip:127.0.0.1"));
    for (const char* const secret : {"jo:secret", "jo:secret", "eve:x"}) {
        const raw_answer a = main_.add_auth("digest", secret);
        EXPECT_EQ(a.code, 0);
        EXPECT_EQ(a.zxid, 0);
    }
    EXPECT_THAT(identities_of(main_),
                UnorderedElementsAre("ip:127.0.0.1", "digest:jo", "digest:eve"));
    EXPECT_EQ(main_.add_auth("ip", "10.0.0.1").code, 0) << "it proves nothing";
    EXPECT_THAT(identities_of(main_),
                UnorderedElementsAre("ip:127.0.0.1", "digest:jo", "digest:eve"));
}

TEST_P(WireContract, CredentialsOfAnUnknownSchemeEndTheConnection) {
    for (const char* const scheme : {"", "none", "world", "auth", "super", "Digest"}) {
        const auto s = another();
        EXPECT_EQ(s->add_auth(scheme, "jo:secret").code, auth_failed) << scheme;
        EXPECT_TRUE(s->is_hung_up()) << scheme;
    }
    const auto s = another();
    EXPECT_EQ(s->ask(s->to(opcode::auth).number(0).text("digest").none()).code, auth_failed);
    EXPECT_TRUE(s->is_hung_up());
}

}  // namespace
}  // namespace latchkey::test

#include "eventually.hpp"
#include "wire_contract.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::vector<std::string> texts_in(const raw_answer& a) {
    EXPECT_EQ(a.code, 0);
    return jute_reader(a.body).texts();
}

/// The data in the answer to a read, or "null".
std::string data_in(const raw_answer& a) {
    EXPECT_EQ(a.code, 0);
    jute_reader in(a.body);
    const std::string_view data = in.text();
    return data.data() == nullptr ? "null" : "\"" + std::string(data) + "\"";
}

// ---- questions of other clients ----

TEST_P(WireContract, EphemeralsOfTheSessionAreListedByPrefix) {
    const auto other = another();
    EXPECT_EQ(other->create(at("others"), open_unsafe_acl(), 1).code, 0);
    EXPECT_EQ(main_.create(at("d")).code, 0);
    for (const char* const name : {"a", "ab", "d/c"}) {
        EXPECT_EQ(main_.create(at(name), open_unsafe_acl(), 1).code, 0);
    }
    const auto below = [&](const std::string& prefix) {
        return texts_in(main_.ask(main_.to(opcode::ephemerals).text(prefix)));
    };
    const std::vector<std::string> all{at("a"), at("ab"), at("d/c")};
    for (const char* const whole : {"", "/", "  ", " / "}) {
        EXPECT_THAT(below(whole), ::testing::UnorderedElementsAreArray(all)) << whole;
    }
    EXPECT_THAT(texts_in(main_.ask(main_.to(opcode::ephemerals).none())),
                ::testing::UnorderedElementsAreArray(all));
    EXPECT_THAT(below(at("a")), UnorderedElementsAre(at("a"), at("ab")));
    EXPECT_THAT(below(at("d/")), ElementsAre(at("d/c")));
    EXPECT_THAT(below(at("none")), IsEmpty());
    EXPECT_EQ(main_.remove(at("ab")).code, 0);
    EXPECT_THAT(below(base_), UnorderedElementsAre(at("a"), at("d/c")));
}

TEST_P(WireContract, ZnodesBelowAPathAreCounted) {
    for (const char* const name : {"a", "a/b", "a/b/c", "ab"}) {
        EXPECT_EQ(main_.create(at(name)).code, 0);
    }
    EXPECT_EQ(main_.create(at("hidden"), {{"world", "anyone", permission::create}}).code, 0);
    EXPECT_EQ(main_.create(at("hidden/x")).code, 0);
    const auto count = [&](const std::string& path) {
        const raw_answer a = main_.read(opcode::all_children_number, path);
        EXPECT_EQ(a.code, 0) << path;
        return jute_reader(a.body).number();
    };
    EXPECT_EQ(count(base_), 6);
    EXPECT_EQ(count(at("a")), 2);
    EXPECT_EQ(count(at("ab")), 0);
    EXPECT_EQ(count("/zookeeper"), 2);
    EXPECT_GE(count("/"), 6 + 1 + 3);
    EXPECT_EQ(main_.read(opcode::all_children_number, at("none")).code, no_node);
    EXPECT_EQ(main_.read(opcode::all_children_number, at("hidden")).code, no_auth);
}

/// "4", "8" or "-1 CODE" for each part of an answer to reads.
std::vector<std::string> parts_in(const raw_answer& a) {
    EXPECT_EQ(a.code, 0);
    jute_reader in(a.body);
    std::vector<std::string> all;
    for (;;) {
        const std::int32_t what = in.number();
        const bool last = in.flag();
        const std::int32_t code = in.number();
        if (last || !in.good()) {
            EXPECT_TRUE(in.good() && in.left() == 0 && what == -1 && code == -1);
            return all;
        }
        const auto type = static_cast<opcode>(what);
        all.push_back(std::to_string(what));
        if (type == opcode::get_data || type == opcode::create || type == opcode::create2) {
            all.back() += ' ' + std::string(in.text());
        } else if (type == opcode::get_children) {
            all.back() += ' ' + std::to_string(in.texts().size());
        } else if (type == opcode::error) {
            all.back() += ' ' + std::to_string(in.number());
            EXPECT_EQ(all.back(), "-1 " + std::to_string(code));
        }
        if (type == opcode::get_data || type == opcode::create2 || type == opcode::set_data) {
            const std::int64_t czxid = jute_reader(in.bytes(stat_size)).long_number();
            EXPECT_TRUE(type != opcode::create2 || czxid == a.zxid) << "the Stat of a create";
        }
    }
}

TEST_P(WireContract, AGroupOfReadsIsAnsweredPartByPart) {
    EXPECT_EQ(main_.set(base_, "data").code, 0);
    EXPECT_EQ(main_.create(at("a")).code, 0);
    EXPECT_EQ(main_.create(at("hidden"), {{"world", "anyone", permission::create}}).code, 0);
    jute_writer out = main_.to(opcode::multi_read);
    for (const std::string& path : {base_, at("none"), at("hidden"), at("a")}) {
        part(out, opcode::get_data).text(path).flag(true);
        part(out, opcode::get_children).text(path).flag(true);
    }
    EXPECT_THAT(
        parts_in(main_.ask(end_of(out))),
        ElementsAre("4 data", "8 2", "-1 -101", "-1 -101", "-1 -102", "-1 -102", "4 ", "8 0"));
    EXPECT_EQ(main_.set(at("a"), "x").code, 0);
    EXPECT_THAT(main_.take_events(), IsEmpty()) << "its parts set no watches";
    jute_writer none = main_.to(opcode::multi_read);
    EXPECT_THAT(parts_in(main_.ask(end_of(none))), IsEmpty());
}

TEST_P(WireContract, GroupsDoNotMixReadsAndWrites) {
    const auto of = [&](opcode group, const std::vector<opcode>& parts) {
        jute_writer out = main_.to(group);
        for (const opcode what : parts) {
            part(out, what).text(base_);
            what == opcode::check ? out.number(-1) : out.flag(false);
        }
        return main_.ask(end_of(out)).code;
    };
    for (const opcode read : {opcode::get_data, opcode::get_children}) {
        EXPECT_EQ(of(opcode::multi, {read}), marshalling_error);
        EXPECT_EQ(of(opcode::multi, {opcode::check, read}), marshalling_error);
        EXPECT_EQ(of(opcode::multi_read, {read}), 0);
        EXPECT_EQ(of(opcode::multi_read, {read, opcode::check}), marshalling_error);
    }
    EXPECT_EQ(of(opcode::multi, {opcode::check}), 0);
    EXPECT_EQ(of(opcode::multi, {}), 0);
    EXPECT_EQ(of(opcode::multi, {static_cast<opcode>(55)}), marshalling_error);
    for (const opcode group : {opcode::multi, opcode::multi_read}) {
        EXPECT_EQ(of(group, {opcode::exists}), marshalling_error);
    }
    EXPECT_EQ(of(opcode::multi_read, {opcode::check}), marshalling_error);
}

TEST_P(WireContract, CreatesOfATransactionAreAnsweredByTheirMode) {
    jute_writer out = main_.to(opcode::multi);
    put_create(part(out, opcode::create), at("plain"));
    put_create(part(out, opcode::create), at("container"), "", 4);
    put_create(part(out, opcode::create_container), at("container2"), "", 4);
    put_create(part(out, opcode::create2), at("plain2"));
    const auto answer =
        main_.ask(transaction(out, {request::set(at("plain"), ""), request::remove(at("plain"))}));
    EXPECT_THAT(parts_in(answer),
                ElementsAre("1 " + at("plain"),
                            "15 " + at("container"),
                            "15 " + at("container2"),
                            (servers_->newer() ? "15 " : "1 ") + at("plain2"),
                            "5",
                            "2"));
}

TEST_P(WireContract, ATransactionThatFailsTellsTheCodeOfEachPart) {
    const auto check = request::check(base_);
    EXPECT_THAT(parts_in(main_.ask(transaction(main_.to(opcode::multi),
                                               {check, request::check(at("none")), check}))),
                ElementsAre("-1 0", "-1 -101", "-1 -2"));
}

// ---- what a znode may be ----

TEST_P(WireContract, DataCanBeAbsentRatherThanEmpty) {
    jute_writer null = main_.to(opcode::create);
    put(null.text(at("null")).none(), open_unsafe_acl());
    EXPECT_EQ(main_.ask(null.number(0)).code, 0);
    EXPECT_EQ(main_.create(at("empty")).code, 0);
    EXPECT_EQ(data_in(main_.read(opcode::get_data, at("null"))), "null");
    EXPECT_EQ(data_in(main_.read(opcode::get_data, at("empty"))), "\"\"");
    EXPECT_EQ(main_.ask(main_.to(opcode::set_data).text(at("empty")).none().number(-1)).code, 0);
    EXPECT_EQ(data_in(main_.read(opcode::get_data, at("empty"))), "null");
    EXPECT_EQ(main_.set(at("null"), "").code, 0);
    EXPECT_EQ(data_in(main_.read(opcode::get_data, at("null"))), "\"\"");
    request set = request::set(at("null"), "");
    set.no_data = true;
    EXPECT_EQ(
        main_.ask(transaction(main_.to(opcode::multi), {set, request::check(at("none"))})).code, 0);
    EXPECT_EQ(data_in(main_.read(opcode::get_data, at("null"))), "\"\"") << "it was not applied";
}

TEST_P(WireContract, ModesAreThoseThatTheOperationKnows) {
    for (const opcode what : {opcode::create, opcode::create2}) {
        for (const std::int32_t flags : {5, 6, 7, 8, -1, 1 << 30}) {
            EXPECT_EQ(main_.create(at("a"), open_unsafe_acl(), flags, what).code, bad_arguments)
                << flags;
        }
    }
}

TEST_P(WireContract, OwnZnodesOfTheServersCannotBeDeletedOrTakenOver) {
    for (const char* const path : {"/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"}) {
        EXPECT_EQ(main_.remove(path).code, bad_arguments) << path;
        const auto remove = transaction(main_.to(opcode::multi), {request::remove(path)});
        EXPECT_THAT(parts_in(main_.ask(remove)), ElementsAre("-1 -8")) << path;
    }
    EXPECT_EQ(main_.set("/zookeeper/config", "x").code, no_auth);
    EXPECT_EQ(main_.set_acl("/zookeeper/config", open_unsafe_acl()).code, no_auth);
    EXPECT_EQ(main_.create("/zookeeper/config/x").code, no_auth);
    EXPECT_EQ(main_.read(opcode::get_data, "/zookeeper/config").code, 0);
    const std::string name = base_.substr(1);
    EXPECT_EQ(main_.create("/zookeeper/quota/" + name).code, 0) << "as setquota of zkCli.sh does";
    EXPECT_EQ(main_.remove("/zookeeper/quota/" + name).code, 0);
}

// ---- codes ----

TEST_P(WireContract, PathsThatCannotExistAreAnsweredByKindOfRequest) {
    for (const std::string& path : {at("a//b"), at("x/"), at("."), at(".."), base_ + "//"}) {
        EXPECT_EQ(main_.remove(path).code, no_node) << path;
        EXPECT_EQ(main_.set(path, "").code, bad_arguments) << path;
        EXPECT_EQ(main_.set_acl(path, open_unsafe_acl()).code, bad_arguments) << path;
        EXPECT_EQ(main_.set_acl(path, {}).code, bad_arguments) << path;
        for (const opcode what : {opcode::exists,
                                  opcode::get_data,
                                  opcode::get_children,
                                  opcode::get_acl,
                                  opcode::all_children_number}) {
            EXPECT_EQ(main_.read(what, path).code, no_node) << path;
        }
    }
    const std::string zero = at(std::string(1, '\0'));
    EXPECT_EQ(main_.remove(zero).code, bad_arguments);
    EXPECT_EQ(main_.create(zero).code, bad_arguments);
    EXPECT_EQ(main_.read(opcode::exists, zero).code, bad_arguments);
    EXPECT_EQ(main_.read(opcode::get_data, zero).code, no_node);
    EXPECT_EQ(main_.read(opcode::get_children2, zero).code, no_node);
    for (const char* const relative : {"", "a", "a-b"}) {
        EXPECT_EQ(main_.remove(relative).code, bad_arguments) << relative;
        EXPECT_EQ(main_.create(relative).code, bad_arguments) << relative;
        EXPECT_EQ(main_.set(relative, "").code, bad_arguments) << relative;
    }
}

TEST_P(WireContract, AnEmptyPathIsTheRootForReads) {
    for (const opcode what : {opcode::exists,
                              opcode::get_data,
                              opcode::get_children,
                              opcode::get_children2,
                              opcode::get_acl}) {
        // Other tests change the root's children at any time.
        EXPECT_TRUE(eventually([&] {
            const raw_answer root = main_.read(what, "/");
            const raw_answer empty = main_.read(what, "");
            EXPECT_EQ(empty.code, 0);
            if (main_.read(what, "/").body != root.body) {
                return false;
            }
            EXPECT_EQ(empty.body, root.body);
            return true;
        }));
    }
    EXPECT_EQ(main_.read(opcode::exists, "a").code, no_node);
}

// But for those of transactions: one of these stops a follower of 3.8.0.
TEST_P(WireContract, AbsentPathsAreMalformed) {
    for (const opcode what : {opcode::exists, opcode::get_data, opcode::get_children}) {
        EXPECT_EQ(main_.ask(main_.to(what).none().flag(false)).code, marshalling_error);
    }
    EXPECT_EQ(main_.ask(main_.to(opcode::get_acl).none()).code, marshalling_error);
    EXPECT_EQ(main_.ask(main_.to(opcode::remove).none().number(-1)).code, marshalling_error);
    jute_writer out = main_.to(opcode::create);
    put(out.none().text(""), open_unsafe_acl());
    EXPECT_EQ(main_.ask(out.number(0)).code, marshalling_error);
    EXPECT_EQ(main_.ask(main_.to(opcode::set_data).none().text("").number(-1)).code, bad_arguments);
}

TEST_P(WireContract, AbsentPartsOfListsAreRefused) {
    const auto create = [&](const char* scheme, const char* id) {
        jute_writer out = main_.to(opcode::create);
        out.text(at("a")).text("").number(1).number(31);
        scheme == nullptr ? out.none() : out.text(scheme);
        id == nullptr ? out.none() : out.text(id);
        return main_.ask(out.number(0)).code;
    };
    EXPECT_EQ(create(nullptr, "anyone"), invalid_acl);
    EXPECT_EQ(create(nullptr, nullptr), invalid_acl);
    EXPECT_EQ(create("none", nullptr), invalid_acl);
    EXPECT_EQ(create("auth", nullptr), invalid_acl) << "nothing is authenticated";
    for (const char* const known : {"world", "ip", "digest"}) {
        EXPECT_EQ(create(known, nullptr), marshalling_error) << known;
    }
    jute_writer none = main_.to(opcode::create);
    EXPECT_EQ(main_.ask(std::move(none.text(at("a")).text("").none().number(0))).code, invalid_acl);
    EXPECT_EQ(main_.read(opcode::exists, at("a")).code, no_node);
}

TEST_P(WireContract, KindsOfWatchesThatDoNotExistAreMalformed) {
    const auto ask = [&](opcode what, std::int32_t number) {
        return main_.ask(main_.to(what).text(base_).number(number)).code;
    };
    for (const std::int32_t mode : {2, -1, 100}) {
        EXPECT_EQ(ask(opcode::add_watch, mode), marshalling_error) << mode;
    }
    for (const opcode what : {opcode::check_watches, opcode::remove_watches}) {
        for (const std::int32_t type : {0, 6, 9, -1}) {
            EXPECT_EQ(ask(what, type), marshalling_error) << type;
        }
        for (const std::int32_t type : {1, 2, 3}) {
            EXPECT_EQ(ask(what, type), no_watcher) << type;
        }
        EXPECT_EQ(ask(what, 4), servers_->newer() ? no_watcher : marshalling_error);
    }
}

TEST_P(WireContract, UnknownOperationsEndTheConnectionAndNotTheSession) {
    for (const std::int32_t what : {55, 0, -1, 23, 99, 108, 1000}) {
        const auto s = another();
        EXPECT_EQ(s->create(at("e"), open_unsafe_acl(), 1).code, 0);
        EXPECT_EQ(s->ask(s->to(what)).code, unimplemented) << what;
        EXPECT_TRUE(s->is_hung_up()) << what;
        EXPECT_EQ(main_.read(opcode::exists, at("e")).code, 0);
        EXPECT_EQ(main_.remove(at("e")).code, 0);
    }
}

TEST_P(WireContract, OperationsOfOperatorsAreRefused) {
    jute_writer out = main_.to(opcode::reconfig);
    out.text("").text("").text("").long_number(-1);
    EXPECT_EQ(main_.ask(out).code, reconfig_disabled);
    EXPECT_EQ(main_.read(opcode::exists, base_).code, 0) << "the connection stays";
}

}  // namespace
}  // namespace latchkey::test

#include "scripted_session.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

/// Names, each of which is answered, fails, or hangs until the test is over.
class host_book {
public:
    void answer(const std::string& name, std::vector<server_address> with) {
        const std::lock_guard lock(mutex_);
        known_[name] = std::move(with);
    }

    void fail(const std::string& name) { answer(name, {}); }

    [[nodiscard]] name_resolver resolver() {
        return [this](const auto& endpoint, const auto& done) {
            const std::lock_guard lock(mutex_);
            const auto found = known_.find(endpoint.host);
            if (found == known_.end()) {
                hanging_.push_back(done);
            } else if (found->second.empty()) {
                done({.addresses = {}, .failure = "cannot resolve '" + endpoint.host + "'"});
            } else {
                done({.addresses = found->second, .failure = {}});
            }
        };
    }

private:
    std::mutex mutex_;
    std::map<std::string, std::vector<server_address>> known_;
    std::vector<std::function<void(name_resolution)>> hanging_;
};

class SessionNames : public ::testing::Test {
protected:
    session_probe session(const std::string& servers) {
        return session_probe(
            options_for(servers, std::chrono::seconds(300)), {}, names_.resolver());
    }

    host_book names_;
};

TEST_F(SessionNames, AreFollowedToTheirNewAddresses) {
    // Ports do not count for the C client, so each server has an address of its own.
    std::optional<scripted_server> old(std::in_place, greeting::welcome, "127.0.0.2");
    const scripted_server moved(greeting::welcome, "127.0.0.3");
    names_.answer("zk", {{"127.0.0.2", old->port(), "zk"}});
    const auto s = session("zk:2181");
    ASSERT_TRUE(s.wait_for(kind::connected));
    const auto id = s.last(kind::connected).id;
    names_.answer("zk", {{"127.0.0.3", moved.port(), "zk"}});
    old.reset();
    ASSERT_TRUE(s.wait_for(kind::connected, 2));
    EXPECT_EQ(s.last(kind::connected).id, id) << "the session lives on";
    EXPECT_EQ(moved.handshakes(), 1U);
}

TEST_F(SessionNames, AreLookedUpAgainWhileThereIsNoSession) {
    const scripted_server moved;
    names_.answer("zk", {{"127.0.0.9", 1, "zk"}});
    const auto s = session("zk:2181");
    ASSERT_TRUE(s.wait_for(kind::trouble));
    names_.answer("zk", {{"127.0.0.1", moved.port(), "zk"}});
    EXPECT_TRUE(s.wait_for(kind::connected));
}

TEST_F(SessionNames, OneThatHangsDelaysNeitherAddressesNorOtherNames) {
    const scripted_server live;
    const auto s = session("silent:2181," + live.address());
    EXPECT_TRUE(s.wait_for(kind::connected));
    names_.answer("zk", {{"127.0.0.1", live.port(), "zk"}});
    const auto named = session("silent:2181,zk:2181,mute:2181");
    EXPECT_TRUE(named.wait_for(kind::connected));
}

TEST_F(SessionNames, OneThatHangsDelaysNoLaterLookUpOfAnother) {
    const scripted_server live;
    names_.fail("zk");
    const auto s = session("silent:2181,zk:2181");
    ASSERT_TRUE(s.wait_for(kind::trouble, 2));
    names_.answer("zk", {{"127.0.0.1", live.port(), "zk"}});
    EXPECT_TRUE(s.wait_for(kind::connected));
}

TEST_F(SessionNames, OneThatHangsIsReported) {
    const auto alone = session("silent:2181,mute:2181");
    const auto beside = session("silent:2181,127.0.0.1:1");
    ASSERT_TRUE(alone.wait_for(kind::trouble));
    ASSERT_TRUE(beside.wait_for(kind::trouble));
    EXPECT_EQ(alone.last(kind::trouble).detail, "looking up 'silent', 'mute'");
    const auto says = [&beside] {
        return beside.last(kind::trouble).detail ==
               "127.0.0.1:1: Connection refused; looking up 'silent'";
    };
    EXPECT_TRUE(eventually(says));
}

TEST_F(SessionNames, OneThatFailsMayBeTheEndOfTheSession) {
    names_.fail("zk");
    session_probe s(options_for("zk:2181"), kind::trouble, names_.resolver());
    ASSERT_TRUE(s.wait_for(kind::trouble));
    s.on_loop([] {});
    EXPECT_EQ(s.events().size(), 1U);
}

TEST_F(SessionNames, OneThatFailsKeepsItsAddressesThoughAnotherIsAnswered) {
    std::optional<scripted_server> a(std::in_place, greeting::welcome, "127.0.0.2");
    scripted_server b(greeting::welcome, "127.0.0.3");
    names_.answer("a", {{"127.0.0.2", a->port(), "a"}});
    names_.answer("b", {{"127.0.0.3", b.port(), "b"}});
    const auto s = session("a:2181,b:2181");
    ASSERT_TRUE(s.wait_for(kind::connected));
    names_.fail("b");
    b.greet(greeting::silence);
    a.reset();
    b.reset_connections();
    const auto before = s.count(kind::trouble);
    ASSERT_TRUE(s.wait_for(kind::trouble, before + 8)) << "rounds with a look-up";
    b.greet(greeting::welcome);
    EXPECT_TRUE(s.wait_for(kind::connected, 2));
}

}  // namespace
}  // namespace latchkey::test

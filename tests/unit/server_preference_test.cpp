#include <latchkey/client.hpp>
#include <latchkey/ensemble.hpp>
#include <latchkey/mutex.hpp>

#include "scripted_session.hpp"
#include "zookeeper/server_survey.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using testing::ensemble;

constexpr const char* leader = "Zookeeper version: 3.8.0\nMode: leader\nNode count: 5\n";
constexpr const char* follower = "Zookeeper version: 3.8.0\nMode: follower\nNode count: 5\n";

session_options preferring(server_preference what, const std::string& servers) {
    session_options how;
    for (std::size_t begin = 0; begin < servers.size();) {
        const auto end = std::min(servers.find(',', begin), servers.size());
        const auto colon = servers.rfind(':', end - 1);
        how.servers.push_back(
            {servers.substr(begin, colon - begin),
             static_cast<std::uint16_t>(std::stoi(servers.substr(colon + 1, end - colon - 1)))});
        begin = end + 1;
    }
    how.timeout = 20s;
    how.prefer = what;
    how.is_idle = [] { return true; };
    return how;
}

TEST(ServerAnswer, SaysWhetherTheServerCanBeUsedAndWhetherItLeads) {
    EXPECT_TRUE(server_answer::of(leader).leads);
    EXPECT_TRUE(server_answer::of("Zxid: 0x0\nMode: standalone\n").leads);
    EXPECT_TRUE(server_answer::of(follower).usable);
    EXPECT_FALSE(server_answer::of(follower).leads);
    EXPECT_TRUE(server_answer::of("Zxid: 0x0\nMode: observer\n").usable);
    EXPECT_TRUE(
        server_answer::of("srvr is not executed because it is not in the whitelist.\n").usable);
    for (const char* unusable : {"",
                                 "Zxid: 0x0\nMode: read-only\n",
                                 "This ZooKeeper instance is not currently serving requests\n"}) {
        EXPECT_FALSE(server_answer::of(unusable).usable) << unusable;
        EXPECT_FALSE(server_answer::of(unusable).leads) << unusable;
    }
}

TEST(ServerAnswer, OfThoseThatAreAboutAsNearTheFirstNamedIsPreferred) {
    const auto after = [](std::chrono::nanoseconds t) {
        return server_answer{.usable = true, .after = t};
    };
    const auto near = server_preference::near;
    EXPECT_EQ(preferred(near, {after(1100us), after(1000us)}), 0U);
    EXPECT_EQ(preferred(near, {after(1800us), after(1000us)}), 1U);
    EXPECT_EQ(preferred(near, {after(300us), after(150us)}), 0U);
    EXPECT_EQ(preferred(near, {{}, after(50ms), after(60ms)}), 1U);
    EXPECT_EQ(preferred(near, {{}, {}}), std::nullopt);
    EXPECT_EQ(preferred(near, {}), std::nullopt);
}

TEST(ServerPreference, ConnectsToTheLeaderAtOnce) {
    for (std::size_t which = 0; which < 3; ++which) {
        std::array<scripted_server, 3> servers;
        for (std::size_t i = 0; i < 3; ++i) {
            servers.at(i).answer_word(i == which ? leader : follower);
        }
        session_probe s(preferring(server_preference::leader, addresses_of(servers)));
        ASSERT_TRUE(s.wait_for(kind::connected));
        EXPECT_EQ(servers.at(which).handshakes(), 1U);
        EXPECT_EQ(s.count(kind::trouble), 0U);
    }
}

TEST(ServerPreference, ConnectsToAnyServerIfNoneSaysThatItLeads) {
    std::array<scripted_server, 3> servers;
    servers[0].answer_word(follower);
    servers[1].answer_word("srvr is not executed because it is not in the whitelist.\n");
    session_probe s(preferring(server_preference::leader, addresses_of(servers)));
    EXPECT_TRUE(s.wait_for(kind::connected));
    EXPECT_EQ(s.call(request::remove("/a")).code, result_code::ok);
}

TEST(ServerPreference, ConnectsAlsoIfNoServerIsThereWhenItAsks) {
    std::optional<scripted_server> gone(std::in_place);
    const std::string address = gone->address();
    gone.reset();
    session_probe s(preferring(server_preference::near, address));
    EXPECT_TRUE(s.wait_for(kind::trouble, 3));
    EXPECT_EQ(s.last(kind::trouble).detail, address + ": Connection refused");
}

TEST(ServerPreference, ConnectsToTheServerThatAnswersFirst) {
    for (std::size_t which = 0; which < 3; ++which) {
        std::array<scripted_server, 3> servers;
        servers.at(which).answer_word(follower);
        session_probe s(preferring(server_preference::near, addresses_of(servers)));
        ASSERT_TRUE(s.wait_for(kind::connected));
        EXPECT_EQ(servers.at(which).handshakes(), 1U);
    }
}

/// A client of three servers, at the leader. Then another one leads.
class ServerPreferenceMoves : public ::testing::Test {
protected:
    ServerPreferenceMoves() {
        servers_[0].answer_word(leader);
        servers_[1].answer_word(follower);
        servers_[2].answer_word(follower);
        auto how = preferring(server_preference::leader, addresses_of(servers_));
        how.is_idle = [this] {
            ++asked_;
            return idle_.load();
        };
        session_.emplace(how);
        EXPECT_TRUE(session_->wait_for(kind::connected));
        EXPECT_EQ(servers_[0].handshakes(), 1U);
        servers_[0].answer_word(follower);
        servers_[1].answer_word(leader);
    }

    /// The connection to the old leader fails, and it comes to the one that is no leader.
    void lose_the_old_leader() {
        servers_[0].greet(greeting::silence);
        servers_[1].greet(greeting::silence);
        servers_[0].reset_connections();
        ASSERT_TRUE(session_->wait_for(kind::connected, 2));
        servers_[1].greet(greeting::welcome);
        tried_ = servers_[1].handshakes();
    }

    std::array<scripted_server, 3> servers_;
    std::atomic<bool> idle_ = true;
    std::atomic<int> asked_ = 0;
    std::size_t tried_ = 0;
    std::optional<session_probe> session_;
};

TEST_F(ServerPreferenceMoves, MovesToTheNewLeaderWithTheSameSession) {
    const auto id = session_->last(kind::connected).id;
    lose_the_old_leader();
    ASSERT_TRUE(session_->wait_for(kind::connected, 3));
    EXPECT_EQ(session_->last(kind::connected).id, id);
    EXPECT_EQ(servers_[1].handshakes(), tried_ + 1);
    EXPECT_EQ(session_->call(request::remove("/a")).code, result_code::ok);
    EXPECT_EQ(servers_[1].count(scripted_server::type_delete), 1U);
}

TEST_F(ServerPreferenceMoves, StaysAsLongAsTheConnectionIsNeeded) {
    idle_ = false;
    lose_the_old_leader();
    ASSERT_TRUE(eventually([&] { return asked_ > 0; })) << "a better server is known";
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(session_->call(request::remove("/a")).code, result_code::ok);
    }
    EXPECT_EQ(servers_[2].count(scripted_server::type_delete), 100U);
    EXPECT_EQ(session_->count(kind::connected), 2U);
    idle_ = true;
    EXPECT_EQ(session_->call(request::remove("/a")).code, result_code::ok);
    EXPECT_TRUE(session_->wait_for(kind::connected, 3));
    EXPECT_EQ(servers_[1].handshakes(), tried_ + 1);
}

TEST_F(ServerPreferenceMoves, AsksNoServerAgainWhenItIsAtTheLeader) {
    const auto words = servers_[0].words();
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(session_->call(request::remove("/a")).code, result_code::ok);
    }
    EXPECT_EQ(servers_[0].words(), words);
    EXPECT_EQ(session_->count(kind::connected), 1U);
}

class ServerPreferenceOfClients : public ::testing::Test {
protected:
    [[nodiscard]] int server_of(std::int64_t session) {
        for (const auto& s : ensemble_.sessions()) {
            if (s.id == session && s.connected) {
                return s.server;
            }
        }
        return -1;
    }

    ensemble ensemble_;
    const std::string servers_ = ensemble_.serve();
};

TEST_F(ServerPreferenceOfClients, AClientIsWithTheLeaderAndFollowsIt) {
    client_options how;
    how.prefer = server_preference::leader;
    client c = client::connect(servers_, how);
    ASSERT_TRUE(c.wait_connected(30s));
    EXPECT_EQ(server_of(c.session_id()), ensemble_.leader());
    const int first = ensemble_.leader();
    const auto session = c.session_id();
    ensemble_.stop_server(first);
    ASSERT_TRUE(eventually(
        [&] { return ensemble_.leader() != first && server_of(session) == ensemble_.leader(); }));
    EXPECT_EQ(c.session_id(), session);
}

TEST_F(ServerPreferenceOfClients, AHolderMovesWhenItHasReleased) {
    client_options how;
    how.prefer = server_preference::leader;
    client c = client::connect(servers_, how);
    mutex m(c, "/lock");
    mutex other(c, "/other");
    hold h = m.acquire();
    const auto session = c.session_id();
    while (server_of(session) == ensemble_.leader()) {
        ensemble_.cut(session);
        ASSERT_TRUE(eventually([&] { return server_of(session) != -1; }));
    }
    const int now = server_of(session);
    for (int i = 0; i < 20; ++i) {
        (void)other.acquire();
    }
    EXPECT_EQ(server_of(session), now);
    EXPECT_TRUE(h.valid());
    h.release();
    EXPECT_TRUE(eventually([&] { return server_of(session) == ensemble_.leader(); }));
}

}  // namespace
}  // namespace latchkey::test

#include "scripted_session.hpp"
#include "zookeeper/zookeeper_connection.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/system/system_error.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

/// A free port that no program listens on.
std::string closed_port() {
    return scripted_server().address();
}

// The C client itself gives each silent server two thirds of the session timeout, which is 200 s
// here. Ours is 400 ms. wait_for() gives up after 30 s.
constexpr milliseconds long_timeout(300'000);

TEST(SessionConnect, PassesThreeServersThatAcceptAndNeverAnswer) {
    std::array<scripted_server, 4> servers;
    for (auto& one : servers) {
        one.greet(greeting::silence);
    }
    session_probe s(addresses_of(servers), long_timeout);
    ASSERT_TRUE(s.wait_for(kind::trouble, 3));
    for (auto& one : servers) {
        one.greet(greeting::welcome);  // the fourth is not too late for this round
    }
    ASSERT_TRUE(s.wait_for(kind::connected));
}

TEST(SessionConnect, PassesServersWhereConnectingNeverEnds) {
    const std::array<full_listener, 3> full;
    session_probe alone(full[0].address(), long_timeout);
    ASSERT_TRUE(alone.wait_for(kind::trouble));
    EXPECT_EQ(alone.last(kind::trouble).detail, full[0].address() + ": no answer within 400 ms");
    const scripted_server live;
    session_probe s(addresses_of(full) + "," + live.address());
    ASSERT_TRUE(s.wait_for(kind::connected));
    EXPECT_LE(s.count(kind::trouble), 3U);
}

/// Asio may say so, when one socket is watched right after another.
TEST(SessionConnect, GoesOnWithAnAttemptWhoseSocketWasSaidToBeReadyTooEarly) {
    struct nobody final : zookeeper_connection::listener {
        void connected() noexcept override {}

        void disconnected(zookeeper_handle::state) noexcept override {}
    } told;

    const full_listener full;
    const auto port = std::stoi(full.address().substr(full.address().find(':') + 1));
    const server_address server{"127.0.0.1", static_cast<std::uint16_t>(port), {}};
    session_probe s(full.address(), long_timeout);
    s.on_loop([&] {
        zookeeper_connection attempt(
            s.loop(), {server, nullptr, long_timeout, {}, {}}, told, [](bool, bool) {});
        EXPECT_TRUE(attempt.work(false, false));
        EXPECT_TRUE(attempt.work(true, false)) << attempt.failure();
        EXPECT_TRUE(attempt.work(false, true)) << attempt.failure();
    });
}

TEST(SessionConnect, BlamesEachServerForItsOwnFailure) {
    const scripted_server silent(greeting::silence);
    const scripted_server other(greeting::nonsense);
    const auto nobody = closed_port();
    const auto nobody_either = closed_port();
    session_probe s(silent.address() + "," + nobody + "," + nobody_either + "," + other.address());
    ASSERT_TRUE(s.wait_for(kind::trouble, 8));
    std::set<std::string> told;
    for (const auto& e : s.events()) {
        told.insert(e.detail.substr(0, e.detail.find(" within")));
    }
    EXPECT_THAT(told,
                ::testing::UnorderedElementsAre(
                    silent.address() + ": no answer",
                    nobody + ": Connection refused",
                    nobody_either + ": Connection refused",
                    ::testing::StartsWith(other.address() + ": malformed answer: a length of ")));
}

TEST(SessionConnect, SpeaksIpv6) {
    try {
        const scripted_server live(greeting::welcome, "::1");
        session_probe s(live.address());
        EXPECT_TRUE(s.wait_for(kind::connected));
        session_probe refused("::1:1");
        ASSERT_TRUE(refused.wait_for(kind::trouble));
        EXPECT_EQ(refused.last(kind::trouble).detail, "[::1]:1: Connection refused");
    } catch (const boost::system::system_error& e) {
        GTEST_SKIP() << "no IPv6 here: " << e.what();
    }
}

TEST(SessionConnect, TellsThatANameCannotBeResolvedAndStaysUsable) {
    const scripted_server live;
    session_probe lost("name.invalid:2181");
    auto answer = lost.submit(request::get("/a"));
    ASSERT_TRUE(lost.wait_for(kind::trouble));
    EXPECT_THAT(lost.last(kind::trouble).detail, HasSubstr("cannot resolve 'name.invalid'"));
    EXPECT_EQ(session_probe::awaited(std::move(answer)).code, result_code::connection_loss);

    session_probe half("name.invalid:2181," + live.address());
    EXPECT_TRUE(half.wait_for(kind::connected)) << "one name of two is enough";
}

TEST(SessionConnect, FailsWhatWasSubmittedWithTheAttemptAndTakesMore) {
    session_probe s(closed_port());
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(s.call(request::get("/a")).code, result_code::connection_loss);
    }
    EXPECT_EQ(s.count(kind::suspended), 0U) << "it was never connected";
    EXPECT_TRUE(completes(s.close())) << "at once, without a connection";
}

TEST(SessionConnect, MovesBetweenTwoServersWhicheverFails) {
    // The C client alone would try only one of an even number.
    std::optional<scripted_server> a(std::in_place);
    const scripted_server b;
    session_probe s(a->address() + "," + b.address(), milliseconds(30000));
    ASSERT_TRUE(s.wait_for(kind::connected));
    const auto id = s.last(kind::connected).id;
    for (std::size_t round = 1; round <= 9; ++round) {
        EXPECT_EQ(a->handshakes() + b.handshakes(), round);
        EXPECT_LE(std::max(a->handshakes(), b.handshakes()), (round + 1) / 2) << "in turn";
        s.on_loop([&] { s.session().reconnect(); });
        ASSERT_TRUE(s.wait_for(kind::connected, round + 1));
    }
    EXPECT_EQ(s.last(kind::connected).id, id);
    EXPECT_EQ(s.count(kind::suspended), 9U);

    a.reset();
    EXPECT_TRUE(eventually([&] { return s.call(request::remove("/a")).ok(); }));
}

TEST(SessionConnect, LeavesASilentServer) {
    std::array<scripted_server, 2> servers;
    session_probe s(addresses_of(servers), milliseconds(1500));
    ASSERT_TRUE(s.wait_for(kind::connected));
    servers.at(servers[0].handshakes() == 1 ? 0 : 1).answer(false);
    auto answer = s.submit(request::remove("/a"));
    ASSERT_TRUE(s.wait_for(kind::connected, 2));
    EXPECT_TRUE(outcome_unknown(session_probe::awaited(std::move(answer)).code));
}

TEST(SessionConnect, DoesNotDisturbTheProgramsRandomNumbers) {
    std::srand(42);
    const int expected[] = {std::rand(), std::rand(), std::rand()};
    std::srand(42);
    std::vector<int> got;
    for (int i = 0; i < 3; ++i) {
        const scripted_server server;
        session_probe s(server.address());
        ASSERT_TRUE(s.wait_for(kind::connected));
        static_cast<void>(s.call(request::get("/a")));
        got.push_back(std::rand());
    }
    EXPECT_THAT(got, ::testing::ElementsAreArray(expected));
}

}  // namespace
}  // namespace latchkey::test

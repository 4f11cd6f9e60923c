#include "eventually.hpp"
#include "scripted_server.hpp"
#include "session_probe.hpp"

#include <array>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/system/system_error.hpp>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace latchkey {
namespace {

using std::chrono::milliseconds;
using test::eventually;
using test::scripted_server;
using test::session_probe;
using greeting = scripted_server::greeting;
using kind = session_event::kind;

/// A free port that nobody listens on.
std::string closed_port() {
    return scripted_server().address();
}

// The C client itself gives each silent server two thirds of the session timeout, which is 200 s
// here. Ours is 400 ms. wait_for() gives up after 30 s.
constexpr milliseconds long_timeout(300'000);

TEST(SessionConnect, PassesThreeServersThatAcceptAndNeverAnswer) {
    std::array<scripted_server, 4> servers;
    std::string all;
    for (auto& one : servers) {
        one.greet(greeting::silence);
        all += (all.empty() ? "" : ",") + one.address();
    }
    session_probe s(all, long_timeout);
    ASSERT_TRUE(s.wait_for(kind::trouble, 3));
    for (auto& one : servers) {
        one.greet(greeting::welcome);  // the fourth is not too late for this round
    }
    ASSERT_TRUE(s.wait_for(kind::connected));
}

TEST(SessionConnect, LeavesAServerWhereConnectingNeverEnds) {
    const test::full_listener full;
    session_probe s(full.address(), long_timeout);
    ASSERT_TRUE(s.wait_for(kind::trouble));
    EXPECT_EQ(s.last(kind::trouble).detail, full.address() + ": no answer within 400 ms");
}

TEST(SessionConnect, PassesServersWhereConnectingNeverEnds) {
    const test::full_listener a;
    const test::full_listener b;
    const test::full_listener c;
    const scripted_server live;
    session_probe s(a.address() + "," + b.address() + "," + c.address() + "," + live.address());
    ASSERT_TRUE(s.wait_for(kind::connected));
    EXPECT_LE(s.count(kind::trouble), 3U);
}

TEST(SessionConnect, TellsWhichServerFailedAndWhy) {
    const scripted_server silent(greeting::silence);
    session_probe s(silent.address());
    ASSERT_TRUE(s.wait_for(kind::trouble));
    EXPECT_THAT(s.last(kind::trouble).detail, testing::HasSubstr(silent.address()));
    EXPECT_THAT(s.last(kind::trouble).detail, testing::HasSubstr("no answer within"));

    const scripted_server other(greeting::nonsense);
    session_probe astray(other.address());
    ASSERT_TRUE(astray.wait_for(kind::trouble));
    EXPECT_THAT(astray.last(kind::trouble).detail, testing::Not(testing::HasSubstr("Success")));

    const auto nobody = closed_port();
    session_probe refused(nobody);
    ASSERT_TRUE(refused.wait_for(kind::trouble));
    EXPECT_EQ(refused.last(kind::trouble).detail, nobody + ": Connection refused");
}

TEST(SessionConnect, BlamesEachServerForItsOwnFailure) {
    const scripted_server silent(greeting::silence);
    const auto nobody = closed_port();
    const auto nobody_either = closed_port();
    const auto servers = silent.address() + "," + nobody + "," + nobody_either;
    session_probe s(servers);
    ASSERT_TRUE(s.wait_for(kind::trouble, 6));
    std::set<std::string> told;
    for (const auto& e : s.events()) {
        told.insert(e.detail.substr(0, e.detail.find(" within")));
    }
    EXPECT_THAT(
        told,
        testing::ElementsAreArray(std::set<std::string>{silent.address() + ": no answer",
                                                        nobody + ": Connection refused",
                                                        nobody_either + ": Connection refused"}));
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

TEST(SessionConnect, TellsTheNameThatWasConfigured) {
    const auto port = closed_port().substr(std::string("127.0.0.1").size());
    session_probe s("localhost" + port);
    ASSERT_TRUE(s.wait_for(kind::trouble));
    EXPECT_THAT(s.last(kind::trouble).detail, testing::StartsWith("localhost ("));
}

TEST(SessionConnect, TellsThatANameCannotBeResolvedAndStaysUsable) {
    const scripted_server live;
    session_probe lost("name.invalid:2181");
    auto answer = lost.submit(request::get("/a"));
    ASSERT_TRUE(lost.wait_for(kind::trouble));
    EXPECT_THAT(lost.last(kind::trouble).detail,
                testing::HasSubstr("cannot resolve 'name.invalid'"));
    EXPECT_EQ(session_probe::awaited(std::move(answer)).code, result_code::connection_loss);

    session_probe half("name.invalid:2181," + live.address());
    EXPECT_TRUE(half.wait_for(kind::connected)) << "one name of two is enough";
}

/// Names that change their meaning.
class name_book {
public:
    explicit name_book(std::vector<server_address> now) : now_(std::move(now)) {}

    void change(std::vector<server_address> to) {
        const std::lock_guard lock(mutex_);
        now_ = std::move(to);
    }

    [[nodiscard]] name_resolver resolver() {
        return [this](const auto& /*endpoints*/, const auto& done) {
            const std::lock_guard lock(mutex_);
            done({.addresses = now_, .failure = {}});
        };
    }

private:
    std::mutex mutex_;
    std::vector<server_address> now_;
};

TEST(SessionConnect, FollowsItsServersToTheirNewAddresses) {
    // Ports do not count for the C client, so each server has an address of its own.
    std::optional<scripted_server> old(std::in_place, greeting::welcome, "127.0.0.2");
    const scripted_server moved(greeting::welcome, "127.0.0.3");
    name_book names({{"127.0.0.2", old->port(), "zk"}});
    session_probe s(test::options_for("zk:2181", milliseconds(30000)), {}, names.resolver());
    ASSERT_TRUE(s.wait_for(kind::connected));
    const auto id = s.last(kind::connected).id;
    names.change({{"127.0.0.3", moved.port(), "zk"}});
    old.reset();
    ASSERT_TRUE(s.wait_for(kind::connected, 2));
    EXPECT_EQ(s.last(kind::connected).id, id) << "the session lives on";
    EXPECT_EQ(moved.handshakes(), 1U);
}

TEST(SessionConnect, LooksNamesUpAgainWhileItHasNoSession) {
    const scripted_server moved;
    name_book names({{"127.0.0.9", 1, "zk"}});
    session_probe s(test::options_for("zk:2181"), {}, names.resolver());
    ASSERT_TRUE(s.wait_for(kind::trouble));
    names.change({{"127.0.0.1", moved.port(), "zk"}});
    EXPECT_TRUE(s.wait_for(kind::connected));
}

TEST(SessionConnect, KeepsTryingUntilAServerAnswers) {
    scripted_server server(greeting::silence);
    session_probe s(server.address());
    ASSERT_TRUE(s.wait_for(kind::trouble, 3));
    server.greet(greeting::welcome);
    EXPECT_TRUE(s.wait_for(kind::connected));
}

TEST(SessionConnect, FailsWhatWasSubmittedWithTheAttemptAndTakesMore) {
    session_probe s(closed_port());
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(s.call(request::get("/a")).code, result_code::connection_loss);
    }
    EXPECT_EQ(s.count(kind::suspended), 0U) << "it was never connected";
}

TEST(SessionConnect, SendsWhatWasSubmittedBefore) {
    scripted_server live;
    live.greet(greeting::silence);
    session_probe s(live.address());
    live.greet(greeting::welcome);
    auto answer = s.submit(request::remove("/a"));
    // The first attempt may have met the silence.
    const auto code = session_probe::awaited(std::move(answer)).code;
    EXPECT_TRUE(code == result_code::ok || code == result_code::connection_loss);
    EXPECT_TRUE(s.wait_for(kind::connected));
    EXPECT_EQ(s.call(request::remove("/a")).code, result_code::ok);
}

TEST(SessionConnect, MovesBetweenTwoServersWhicheverFails) {
    // The C client alone would try only one of an even number.
    std::optional<scripted_server> a(std::in_place);
    std::optional<scripted_server> b(std::in_place);
    session_probe s(a->address() + "," + b->address(), milliseconds(30000));
    ASSERT_TRUE(s.wait_for(kind::connected));
    const auto id = s.last(kind::connected).id;
    for (std::size_t round = 1; round <= 9; ++round) {
        EXPECT_EQ(a->handshakes() + b->handshakes(), round);
        EXPECT_LE(a->handshakes() > b->handshakes() ? a->handshakes() - b->handshakes()
                                                    : b->handshakes() - a->handshakes(),
                  1U);
        s.on_loop([&] { s.session().reconnect(); });
        ASSERT_TRUE(s.wait_for(kind::connected, round + 1));
    }
    EXPECT_EQ(s.last(kind::connected).id, id);
    EXPECT_EQ(s.count(kind::suspended), 9U);

    const auto at_b = b->handshakes();
    a.reset();
    ASSERT_TRUE(
        eventually([&] { return b->handshakes() > at_b || s.call(request::remove("/a")).ok(); }));
    EXPECT_EQ(s.call(request::remove("/a")).code, result_code::ok);
}

TEST(SessionConnect, SuspendsBeforeItFailsWhatWasInFlight) {
    scripted_server server;
    session_probe s(server.address());
    ASSERT_TRUE(s.wait_for(kind::connected));
    server.answer(false);
    std::promise<std::size_t> suspended_before;
    s.on_loop([&] {
        s.session().submit(request::remove("/a"), [&](const reply& r) {
            EXPECT_EQ(r.code, result_code::connection_loss);
            suspended_before.set_value(s.count(kind::suspended));
        });
    });
    ASSERT_TRUE(eventually([&] { return server.count(scripted_server::type_delete) == 1; }));
    server.reset_connections();
    EXPECT_EQ(suspended_before.get_future().get(), 1U);
    EXPECT_TRUE(s.wait_for(kind::connected, 2));
}

TEST(SessionConnect, DoesNotMixUpConnectionsWhenASendFails) {
    scripted_server server;
    session_probe s(server.address());
    for (std::size_t round = 1; round <= 10; ++round) {
        ASSERT_TRUE(s.wait_for(kind::connected, round));
        server.answer(false);
        std::vector<std::promise<reply>> answers(3);
        // The reset arrives while the loop is busy here, so that a send finds it first.
        s.on_loop([&] {
            for (auto& a : answers) {
                s.session().submit(request::remove("/a"),
                                   [&a](reply r) { a.set_value(std::move(r)); });
                if (&a == &answers.front()) {
                    server.reset_connections();
                }
            }
        });
        for (auto& a : answers) {
            EXPECT_EQ(session_probe::awaited(a.get_future()).code, result_code::connection_loss);
        }
        EXPECT_EQ(s.count(kind::suspended), round);
        server.answer(true);
        ASSERT_TRUE(s.wait_for(kind::connected, round + 1));
        EXPECT_EQ(s.call(request::remove("/b")).code, result_code::ok);
    }
    EXPECT_EQ(s.count(kind::trouble), 0U);
}

TEST(SessionConnect, PausesLongerAndLongerWhenConnectionsDieYoung) {
    scripted_server server;
    session_probe s(server.address(), milliseconds(10'000));
    const auto begun = std::chrono::steady_clock::now();
    for (std::size_t round = 1; round <= 6; ++round) {
        ASSERT_TRUE(s.wait_for(kind::connected, round));
        server.reset_connections();
    }
    ASSERT_TRUE(s.wait_for(kind::suspended, 6));
    // None after the first; then 100, 200, 400 and 500 ms, at least half of each.
    EXPECT_GE(std::chrono::steady_clock::now() - begun, milliseconds(600));
}

TEST(SessionConnect, SetsNoWatchAgainByItself) {
    scripted_server server;
    server.answer_lists({"a"});
    session_probe s(server.address());
    const auto w = make_watcher([](watch_event) {});
    std::promise<reply> listed;
    s.on_loop([&] {
        s.session().submit(
            request::children("/d"), w, [&](reply r) { listed.set_value(std::move(r)); });
    });
    ASSERT_TRUE(session_probe::awaited(listed.get_future()).ok());
    server.reset_connections();
    ASSERT_TRUE(s.wait_for(kind::connected, 2));
    EXPECT_EQ(s.call(request::remove("/a")).code, result_code::ok);
    EXPECT_THAT(
        server.requests(),
        ::testing::ElementsAre(scripted_server::type_children, scripted_server::type_delete));
}

TEST(SessionConnect, NeverTakesAServerThatCanOnlyBeReadFrom) {
    scripted_server server;
    session_probe s(server.address());
    ASSERT_TRUE(s.wait_for(kind::connected));
    server.reset_connections();
    ASSERT_TRUE(s.wait_for(kind::connected, 2));
    EXPECT_EQ(server.read_only_handshakes(), 0U);
}

TEST(SessionConnect, KeepsAnIdleSessionAlive) {
    scripted_server server;
    session_probe s(server.address(), milliseconds(3000));
    ASSERT_TRUE(s.wait_for(kind::connected));
    EXPECT_TRUE(eventually([&] { return server.count(scripted_server::type_ping) >= 3; }));
    EXPECT_EQ(s.count(kind::expired), 0U);
}

TEST(SessionConnect, LeavesASilentServer) {
    scripted_server silent;
    scripted_server other;
    session_probe s(silent.address() + "," + other.address(), milliseconds(1500));
    ASSERT_TRUE(s.wait_for(kind::connected));
    auto& present = silent.handshakes() == 1 ? silent : other;
    present.answer(false);
    auto answer = s.submit(request::remove("/a"));
    ASSERT_TRUE(s.wait_for(kind::connected, 2));
    EXPECT_TRUE(outcome_unknown(session_probe::awaited(std::move(answer)).code));
}

TEST(SessionConnect, LetsNoDescriptorBeInherited) {
    const scripted_server server;
    session_probe s(server.address());
    ASSERT_TRUE(s.wait_for(kind::connected));
    int found = 0;
    for (int fd = 0; fd < 1024; ++fd) {
        sockaddr_in peer{};
        socklen_t size = sizeof peer;
        if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) == 0 &&
            server.address() == "127.0.0.1:" + std::to_string(ntohs(peer.sin_port))) {
            ++found;
            EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0) << fd;
        }
    }
    EXPECT_GE(found, 1);
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
    EXPECT_THAT(got, testing::ElementsAreArray(expected));
}

}  // namespace
}  // namespace latchkey

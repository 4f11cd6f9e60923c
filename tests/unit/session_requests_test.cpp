#include "forked_child.hpp"
#include "scripted_session.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace latchkey::test {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using SessionConnection = ScriptedSession;
using SessionRequests = ScriptedSession;
using SessionEnd = ScriptedSession;

TEST_F(SessionConnection, BreaksAtOnceWhenASendFails) {
    for (std::size_t round = 1; round <= 10; ++round) {
        ASSERT_TRUE(session_.wait_for(kind::connected, round));
        server_.answer(false);
        std::vector<std::promise<reply>> answers(3);
        // The reset arrives while the loop is busy here, so that a send finds it first.
        session_.on_loop([&] {
            for (auto& a : answers) {
                session_.session().submit(request::remove("/a"),
                                          [&a](reply r) { a.set_value(std::move(r)); });
                if (&a == &answers.front()) {
                    server_.reset_connections();
                }
            }
        });
        for (auto& a : answers) {
            EXPECT_EQ(session_probe::awaited(a.get_future()).code, result_code::connection_loss);
        }
        EXPECT_EQ(session_.count(kind::suspended), round);
        server_.answer(true);
        ASSERT_TRUE(session_.wait_for(kind::connected, round + 1));
        EXPECT_EQ(session_.call(request::remove("/b")).code, result_code::ok);
    }
    EXPECT_EQ(session_.count(kind::trouble), 0U);
}

TEST_F(SessionConnection, PausesLongerAndLongerWhenConnectionsDieYoung) {
    session_probe s(server_.address(), milliseconds(10'000));
    const auto begun = std::chrono::steady_clock::now();
    for (std::size_t round = 1; round <= 6; ++round) {
        ASSERT_TRUE(s.wait_for(kind::connected, round));
        server_.reset_connections();
    }
    ASSERT_TRUE(s.wait_for(kind::suspended, 6));
    // None after the first; then 100, 200, 400 and 500 ms, at least half of each.
    EXPECT_GE(std::chrono::steady_clock::now() - begun, milliseconds(600));
}

TEST_F(SessionConnection, IsNeverToAServerThatCanOnlyBeReadFrom) {
    server_.reset_connections();
    ASSERT_TRUE(session_.wait_for(kind::connected, 2));
    EXPECT_EQ(server_.read_only_handshakes(), 0U);
}

TEST_F(SessionConnection, IsNotInherited) {
    int found = 0;
    for (int fd = 0; fd < 1024; ++fd) {
        sockaddr_in peer{};
        socklen_t size = sizeof peer;
        if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) == 0 &&
            server_.port() == ntohs(peer.sin_port)) {
            ++found;
            EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0) << fd;
        }
    }
    EXPECT_GE(found, 1);
}

TEST_F(SessionRequests, AreAnsweredWithListsBeyondWhatServersTakeInOnePacket) {
    std::vector<std::string> names(50'000, "_c_01234567-89ab-4def-8123-456789abcdef-lock-");
    for (std::size_t i = 0; i < names.size(); ++i) {
        names[i] += std::to_string(1'000'000'000 + i);
    }
    server_.answer_lists(names);
    const reply list = session_.call(request::children("/lock"));
    EXPECT_TRUE(list.ok());
    EXPECT_EQ(list.names, names);
    EXPECT_EQ(session_.count(kind::suspended), 0U);
}

TEST_F(SessionRequests, AreAnsweredOnceAndInOrderHoweverManyThereAre) {
    constexpr int many = 25'000;  // more than may be in flight
    std::vector<int> order;
    std::promise<void> all;
    // The loop is busy for as long as it takes to submit them.
    session_probe s(server_.address(), std::chrono::minutes(1));
    ASSERT_TRUE(s.wait_for(kind::connected));
    s.on_loop([&] {
        for (int i = 0; i < many; ++i) {
            s.session().submit(request::remove("/a"), [&, i](const reply& r) {
                EXPECT_TRUE(r.ok());
                order.push_back(i);
                if (order.size() == many) {
                    all.set_value();
                }
            });
        }
    });
    ASSERT_TRUE(completes(all.get_future()));
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
    EXPECT_EQ(server_.count(scripted_server::type_delete), static_cast<std::size_t>(many));
}

TEST_F(SessionRequests, FollowTheCredentialsOnEachConnection) {
    const scripted_server server;
    auto options = options_for(server.address());
    options.identities.push_back({"digest", "bob:secret"});
    session_probe s(std::move(options));
    ASSERT_TRUE(s.wait_for(kind::connected));
    ASSERT_TRUE(s.call(request::remove("/a")).ok());
    s.on_loop([&] { s.session().reconnect(); });
    ASSERT_TRUE(s.wait_for(kind::connected, 2));
    ASSERT_TRUE(s.call(request::remove("/a")).ok());
    EXPECT_THAT(server.requests(),
                ElementsAre(scripted_server::type_credentials,
                            scripted_server::type_delete,
                            scripted_server::type_credentials,
                            scripted_server::type_delete));
}

TEST_F(SessionEnd, IsWhatAnotherSessionOfTheServerMeans) {
    server_.greet(greeting::another_session);
    server_.reset_connections();
    EXPECT_TRUE(session_.wait_for(kind::expired));
    EXPECT_EQ(session_.count(kind::connected), 1U);
}

TEST_F(SessionEnd, ComesWithinABoundAndWithoutBlockingTheLoopWhenTheServerIsSilent) {
    server_.answer(false);
    auto unanswered = session_.submit(request::remove("/a"));
    auto closed = session_.close();
    int meanwhile = 0;
    ASSERT_TRUE(eventually([&] {
        session_.on_loop([&] { ++meanwhile; });
        return closed.wait_for(milliseconds(0)) == std::future_status::ready;
    }));
    EXPECT_GT(meanwhile, 2) << "zookeeper_close() would block the loop until the end";
    EXPECT_EQ(session_probe::awaited(std::move(unanswered)).code, result_code::closing);
}

TEST_F(SessionEnd, ByDestructionDropsTheConnectionAndCallsNoCompletion) {
    const auto token = std::make_shared<int>(0);
    const auto done = [token](const reply&) { FAIL() << "called after the end"; };
    session_.on_loop([&] {
        session_.session().submit(request::remove("/a"), done);
        session_.session().submit(request::get("bad"), done);
        session_.destroy_here();
    });
    EXPECT_TRUE(eventually([&] { return server_.hung_up() == 1; }));
    EXPECT_EQ(server_.count(scripted_server::type_close), 0U) << "the session lives on";
    session_.on_loop([] {});
    EXPECT_EQ(token.use_count(), 2) << "mine and that of done";
}

TEST_F(SessionEnd, MayBeADestructionByItsOwnCompletion) {
    std::promise<void> destroyed;
    session_.on_loop([&] {
        session_.session().submit(request::remove("/a"), [&](const reply&) {
            session_.destroy_here();
            destroyed.set_value();
        });
        for (int i = 0; i < 10; ++i) {
            session_.session().submit(request::remove("/a"),
                                      [](const reply&) { FAIL() << "called after the end"; });
        }
    });
    ASSERT_TRUE(completes(destroyed.get_future()));
    session_.on_loop([] {});
    EXPECT_TRUE(eventually([&] { return server_.hung_up() == 1; }));
}

TEST_F(SessionEnd, MayBeADestructionByAnyOfItsEvents) {
    for (const auto when : {kind::connected, kind::suspended, kind::expired, kind::trouble}) {
        scripted_server server(when == kind::trouble ? greeting::silence : greeting::welcome);
        session_probe s(server.address(), milliseconds(6000), when);
        if (when == kind::suspended || when == kind::expired) {
            ASSERT_TRUE(s.wait_for(kind::connected));
            server.greet(greeting::refuse_session);
            server.reset_connections();
        }
        ASSERT_TRUE(s.wait_for(when));
        s.on_loop([] {});
        const auto told = s.events().size();
        s.on_loop([] {});
        EXPECT_EQ(s.events().size(), told);
        EXPECT_EQ(s.events().back().what, when);
    }
}

TEST_F(SessionEnd, IsNotBroughtAboutByAForkedChild) {
    session_.on_loop([] {});  // the turn that told it is over
    EXPECT_TRUE(holds_in_a_forked_child([&] {
        session_.destroy_here();
        return true;
    }));
    EXPECT_TRUE(session_.call(request::remove("/a")).ok());
    EXPECT_EQ(session_.events().size(), 1U);
    EXPECT_EQ(server_.accepted(), 1U);
}

TEST_F(SessionEnd, EndsTheConnectionAlsoWhileAForkedChildLives) {
    const living_child child;
    session_.drop();
    EXPECT_TRUE(eventually([&] { return server_.hung_up() == 1; }));
}

}  // namespace
}  // namespace latchkey::test

#include "eventually.hpp"
#include "scripted_server.hpp"
#include "session_probe.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace latchkey {
namespace {

using std::chrono::milliseconds;
using test::eventually;
using test::scripted_server;
using test::session_probe;
using greeting = scripted_server::greeting;
using kind = session_event::kind;

TEST(SessionRequests, NeverCallBackFromInsideACall) {
    const scripted_server server;
    session_probe s(server.address());
    ASSERT_TRUE(s.wait_for(kind::connected));
    bool inside = false;  // only on the loop
    std::promise<void> all;
    int left = 3;
    s.on_loop([&] {
        const auto done = [&](const reply&) {
            EXPECT_FALSE(inside);
            if (--left == 0) {
                all.set_value();
            }
        };
        inside = true;
        s.session().submit(request::get("bad"), done);
        s.session().submit(request::remove("/a"), done);
        s.session().submit(request::multi({}), done);
        inside = false;
    });
    EXPECT_EQ(all.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
}

TEST(SessionRequests, AnswersWhatCannotBeSentWithBadArguments) {
    const scripted_server server;
    session_probe s(server.address());
    ASSERT_TRUE(s.wait_for(kind::connected));
    const auto w = make_watcher([](watch_event) {});
    const std::string too_much(1'000'000, 'x');
    EXPECT_EQ(s.call(request::get("no-slash")).code, result_code::bad_arguments);
    EXPECT_EQ(s.call(request::set("/a", too_much)).code, result_code::bad_arguments);
    EXPECT_EQ(s.call(request::multi(
                         {request::create("/a", "", create_mode::container, open_unsafe_acl())}))
                  .code,
              result_code::bad_arguments);
    EXPECT_EQ(session_probe::awaited(s.submit(request::exists("/a"), w)).code,
              result_code::bad_arguments);
    EXPECT_TRUE(server.requests().empty());
    EXPECT_EQ(s.count(kind::suspended), 0U);
}

TEST(SessionRequests, AnswersWithListsBeyondWhatServersTakeInOnePacket) {
    scripted_server server;
    std::vector<std::string> names(50'000, "_c_01234567-89ab-4def-8123-456789abcdef-lock-");
    for (std::size_t i = 0; i < names.size(); ++i) {
        names[i] += std::to_string(1'000'000'000 + i);
    }
    server.answer_lists(names);
    session_probe s(server.address());
    ASSERT_TRUE(s.wait_for(kind::connected));
    const reply list = s.call(request::children("/lock"));
    EXPECT_TRUE(list.ok());
    EXPECT_EQ(list.names, names);
    EXPECT_EQ(s.count(kind::suspended), 0U);
}

TEST(SessionRequests, AnswersEachOfVeryManyOnceAndInOrder) {
    const scripted_server server;
    session_probe s(server.address());
    ASSERT_TRUE(s.wait_for(kind::connected));
    constexpr int many = 25'000;  // more than may be in flight
    std::vector<int> order;
    std::promise<void> all;
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
    ASSERT_EQ(all.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
    EXPECT_EQ(server.count(scripted_server::type_delete), static_cast<std::size_t>(many));
}

TEST(SessionRequests, MaySubmitFromCompletions) {
    const scripted_server server;
    session_probe s(server.address());
    ASSERT_TRUE(s.wait_for(kind::connected));
    std::promise<void> done;
    int left = 100;
    std::function<void(reply)> next = [&](const reply& r) {
        EXPECT_TRUE(r.ok());
        if (--left == 0) {
            done.set_value();
        } else {
            s.session().submit(request::remove("/a"), next);
        }
    };
    s.on_loop([&] { s.session().submit(request::remove("/a"), next); });
    EXPECT_EQ(done.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
}

TEST(SessionRequests, SendTheCredentialsFirstOnEachConnection) {
    const scripted_server server;
    auto options = test::options_for(server.address());
    options.identities.push_back({"digest", "bob:secret"});
    session_probe s(std::move(options));
    ASSERT_TRUE(s.wait_for(kind::connected));
    ASSERT_TRUE(s.call(request::remove("/a")).ok());
    s.on_loop([&] { s.session().reconnect(); });
    ASSERT_TRUE(s.wait_for(kind::connected, 2));
    ASSERT_TRUE(s.call(request::remove("/a")).ok());
    EXPECT_THAT(server.requests(),
                testing::ElementsAre(scripted_server::type_credentials,
                                     scripted_server::type_delete,
                                     scripted_server::type_credentials,
                                     scripted_server::type_delete));
}

TEST(SessionEnd, TellsOnceThatTheCredentialsWereRefused) {
    scripted_server server;
    server.answer_credentials(-115);
    auto options = test::options_for(server.address());
    options.identities.push_back({"digest", "bob:wrong"});
    session_probe s(std::move(options));
    ASSERT_TRUE(s.wait_for(kind::auth_failed));
    EXPECT_EQ(s.call(request::get("/a")).code, result_code::session_expired);
    EXPECT_EQ(s.count(kind::auth_failed), 1U);
    EXPECT_EQ(server.handshakes(), 1U) << "it does not try again";
}

TEST(SessionEnd, TellsOnceThatTheSessionHasExpiredBeforeItFailsItsRequests) {
    scripted_server server;
    session_probe s(server.address());
    ASSERT_TRUE(s.wait_for(kind::connected));
    server.greet(greeting::refuse_session);
    server.reset_connections();
    ASSERT_TRUE(s.wait_for(kind::expired));
    EXPECT_EQ(s.call(request::get("/a")).code, result_code::session_expired);
    EXPECT_EQ(s.call(request::multi({request::check("/a"), request::check("/b")})).code,
              result_code::session_expired)
        << "on a dead handle this would crash the C client";
    EXPECT_EQ(s.count(kind::expired), 1U);
    EXPECT_EQ(s.count(kind::suspended), 1U);
    EXPECT_EQ(s.close().wait_for(std::chrono::seconds(30)), std::future_status::ready);
}

TEST(SessionEnd, TakesAnotherSessionForTheEndOfThisOne) {
    scripted_server server;
    session_probe s(server.address());
    ASSERT_TRUE(s.wait_for(kind::connected));
    server.greet(greeting::another_session);
    server.reset_connections();
    EXPECT_TRUE(s.wait_for(kind::expired));
    EXPECT_EQ(s.count(kind::connected), 1U);
}

TEST(SessionEnd, ClosesOnTheServerAndCompletesTheRest) {
    scripted_server server;
    session_probe s(server.address());
    ASSERT_TRUE(s.wait_for(kind::connected));
    server.answer(false);
    auto unanswered = s.submit(request::remove("/a"));
    ASSERT_TRUE(eventually([&] { return server.count(scripted_server::type_delete) == 1; }));
    server.answer(true);
    auto closed = s.close();
    ASSERT_EQ(closed.wait_for(std::chrono::seconds(30)), std::future_status::ready);
    EXPECT_EQ(unanswered.wait_for(std::chrono::seconds(0)), std::future_status::ready);
    EXPECT_EQ(session_probe::awaited(std::move(unanswered)).code, result_code::closing);
    EXPECT_EQ(server.count(scripted_server::type_close), 1U);
    EXPECT_EQ(s.call(request::get("/a")).code, result_code::closing);
    EXPECT_EQ(s.events().size(), 1U) << "its end is not told as an event";
}

TEST(SessionEnd, SendsWhatWasSubmittedBeforeTheClose) {
    scripted_server server;
    session_probe s(server.address());
    ASSERT_TRUE(s.wait_for(kind::connected));
    std::promise<void> closed;
    s.on_loop([&] {
        for (int i = 0; i < 500; ++i) {
            s.session().submit(request::remove("/a"), [](const reply&) {});
        }
        s.session().close([&] { closed.set_value(); });
    });
    ASSERT_EQ(closed.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
    const auto all = server.requests();
    ASSERT_EQ(all.size(), 501U);
    EXPECT_EQ(all.back(), scripted_server::type_close);
}

TEST(SessionEnd, ClosesWithinABoundAndWithoutBlockingTheLoopWhenTheServerIsSilent) {
    scripted_server server;
    session_probe s(server.address());
    ASSERT_TRUE(s.wait_for(kind::connected));
    server.answer(false);
    auto unanswered = s.submit(request::remove("/a"));
    auto closed = s.close();
    int meanwhile = 0;
    ASSERT_TRUE(eventually([&] {
        s.on_loop([&] { ++meanwhile; });
        return closed.wait_for(milliseconds(0)) == std::future_status::ready;
    }));
    EXPECT_GT(meanwhile, 2) << "zookeeper_close() would block the loop until the end";
    EXPECT_EQ(session_probe::awaited(std::move(unanswered)).code, result_code::closing);
}

TEST(SessionEnd, ClosesAtOnceWithoutAConnection) {
    const scripted_server silent(greeting::silence);
    session_probe s(silent.address());
    auto unanswered = s.submit(request::remove("/a"));
    auto closed = s.close();
    ASSERT_EQ(closed.wait_for(std::chrono::seconds(30)), std::future_status::ready);
    const auto code = session_probe::awaited(std::move(unanswered)).code;
    EXPECT_TRUE(code == result_code::closing || code == result_code::connection_loss);
}

TEST(SessionEnd, DropsTheConnectionButNotTheSessionWhenDestroyed) {
    scripted_server server;
    auto token = std::make_shared<int>(0);
    session_probe s(server.address());
    ASSERT_TRUE(s.wait_for(kind::connected));
    server.answer(false);
    s.on_loop([&] {
        s.session().submit(request::remove("/a"),
                           [token](const reply&) { FAIL() << "called after the end"; });
        s.session().submit(request::get("bad"),
                           [token](const reply&) { FAIL() << "called after the end"; });
        s.destroy_here();
    });
    EXPECT_TRUE(eventually([&] { return server.hung_up() == 1; }));
    EXPECT_EQ(server.count(scripted_server::type_close), 0U);
    s.on_loop([] {});
    EXPECT_EQ(token.use_count(), 1);
}

TEST(SessionEnd, MayBeDestroyedByItsOwnCompletion) {
    const scripted_server server;
    session_probe s(server.address());
    ASSERT_TRUE(s.wait_for(kind::connected));
    std::promise<void> done;
    s.on_loop([&] {
        s.session().submit(request::remove("/a"), [&](const reply&) {
            s.destroy_here();
            done.set_value();
        });
        for (int i = 0; i < 10; ++i) {
            s.session().submit(request::remove("/a"),
                               [](const reply&) { FAIL() << "called after the end"; });
        }
    });
    ASSERT_EQ(done.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
    s.on_loop([] {});
    EXPECT_TRUE(eventually([&] { return server.hung_up() == 1; }));
}

TEST(SessionEnd, MayBeDestroyedByAnyOfItsEvents) {
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

TEST(SessionEnd, IsNotBroughtAboutByAForkedChild) {
    const scripted_server server;
    session_probe s(server.address());
    ASSERT_TRUE(s.wait_for(kind::connected));
    s.on_loop([] {});  // the turn that told it is over
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        s.destroy_here();
        ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(s.call(request::remove("/a")).ok());
    EXPECT_EQ(s.events().size(), 1U);
    EXPECT_EQ(server.accepted(), 1U);
}

TEST(SessionEnd, EndsTheConnectionAlsoWhileAForkedChildLives) {
    scripted_server server;
    session_probe s(server.address());
    ASSERT_TRUE(s.wait_for(kind::connected));
    int life[2];
    ASSERT_EQ(::pipe(life), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        char end = 0;
        ::close(life[1]);
        ::_exit(::read(life[0], &end, 1) == 0 ? 0 : 1);
    }
    ::close(life[0]);
    s.drop();
    EXPECT_TRUE(eventually([&] { return server.hung_up() == 1; }));
    ::close(life[1]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
}

}  // namespace
}  // namespace latchkey

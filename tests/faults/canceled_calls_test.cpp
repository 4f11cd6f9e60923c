// A canceled call gets nothing: neither what is at hand, nor what is granted at the same moment.
#include <latchkey/barrier.hpp>
#include <latchkey/double_barrier.hpp>
#include <latchkey/group.hpp>
#include <latchkey/guard.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/recursive_mutex.hpp>

#include "any_lock.hpp"
#include "eventually.hpp"
#include "every_step.hpp"
#include "interruption.hpp"
#include "plain_coroutine.hpp"
#include "stepped_outcome.hpp"
#include "stepped_test.hpp"

#include <functional>
#include <memory>
#include <ostream>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

const auto every_cancelable = ::testing::Values(
    lock_at<mutex>("mutex", "/lock", {}),
    lock_at<mutex>("kept_mutex", "/lock", {.retain_for = 1h}),
    lock_at<mutex>("passed_mutex", "/lock", {.local_passes = 5}),
    multi_mutex_at({"/lock", "/beside"}),
    lock_at<shared_mutex>("writer", "/lock", {}, lock_mode::exclusive),
    lock_at<shared_mutex>("kept_writer", "/lock", {.retain_for = 1h}, lock_mode::exclusive),
    lock_at<shared_mutex>("upgrader", "/lock", {.retain_for = 1h}, lock_mode::upgrade),
    lock_at<shared_mutex>("reader", "/lock", {}, lock_mode::shared),
    permits_at<semaphore>("semaphore", "/lock", {}, 2, 3),
    permits_at<curator_semaphore>("curator_semaphore", "/lock", {}, 2, 3));

std::stop_token stop_requested_before() {
    std::stop_source s;
    s.request_stop();
    return s.get_token();
}

class CanceledAcquire : public SteppedTest, public ::testing::WithParamInterface<kind_of_lock> {
protected:
    /// How a call ended.
    struct ending {
        bool done = false;
        std::error_code ec;
        hold granted;
        bool was_canceled = false;
        std::stop_source stop;
    };

    static grant_handler into(const std::shared_ptr<ending>& e) {
        return [e](std::error_code ec, hold h) {
            e->done = true;
            e->ec = ec;
            e->was_canceled = e->stop.stop_requested();
            e->granted = std::move(h);
        };
    }

    static plain_coroutine await_into(awaitable<hold> call, std::shared_ptr<ending> e) {
        hold h = co_await std::move(call);
        into(e)({}, std::move(h));
    }

    void finish(const ending& e) {
        ASSERT_TRUE(ensemble_.run_until([&] { return e.done; }, 60s));
        EXPECT_FALSE(e.ec) << e.ec.message();
    }

    /// It was held, and its place is kept if the options say that.
    void hold_once() {
        const auto before = std::make_shared<ending>();
        way_.async({}, into(before));
        finish(*before);
        EXPECT_TRUE(before->granted.valid());
        before->granted.release();
        settle();
    }

    client c_ = connected();
    const any_lock way_ = GetParam().make(c_);
};

TEST_P(CanceledAcquire, BeforeItBeganGetsNothingAndSendsNothing) {
    hold_once();
    const auto in_time = [&](auto o, const auto& h) { way_.async_acquire(1h, std::move(o), h); };
    for (const auto& form : {way_.async, decltype(way_.async)(in_time)}) {
        const auto e = std::make_shared<ending>();
        form({.stop = stop_requested_before()}, into(e));
        finish(*e);
        EXPECT_TRUE(is_empty(e->granted));
    }
    for (const auto& form : {way_.awaited, way_.awaited_in_time}) {
        const auto e = std::make_shared<ending>();
        const plain_coroutine waits = await_into(form({.stop = stop_requested_before()}), e);
        finish(*e);
        EXPECT_TRUE(is_empty(e->granted));
    }
    ensemble_.run_for(1s);
    EXPECT_EQ(ensemble_.count().creates, 0U);
    EXPECT_EQ(ensemble_.count().multis, 0U);
    hold_once();
}

TEST_P(CanceledAcquire, AtAnyMomentBeforeItEndsGetsNothing) {
    for (const bool awaited : {false, true}) {
        std::shared_ptr<plain_coroutine> waits;
        at_every_step(
            {ensemble_, 10 * one_way, one_way / 2},
            [&] {
                auto e = std::make_shared<ending>();
                if (awaited) {
                    auto call = way_.awaited({.stop = e->stop.get_token()});
                    waits = std::make_shared<plain_coroutine>(await_into(std::move(call), e));
                } else {
                    way_.async({.stop = e->stop.get_token()}, into(e));
                }
                return e;
            },
            [&](const auto& e) { e->stop.request_stop(); },
            [&](const auto& e) {
                finish(*e);
                EXPECT_TRUE(is_empty(e->granted) == e->was_canceled);
                e->granted.release();
                ensemble_.run_for(100ms);
            });
    }
    hold_once();
}

INSTANTIATE_TEST_SUITE_P(, CanceledAcquire, every_cancelable, [](const auto& p) {
    return p.param.name;
});

/// Calls that block, on threads.
class CanceledThreads : public ::testing::Test {
protected:
    testing::ensemble servers_;
    client c_ = servers_.connect({.session_timeout = 10s});
};

class CanceledThread : public CanceledThreads,
                       public ::testing::WithParamInterface<kind_of_lock> {};

TEST_P(CanceledThread, BeforeItsCallGetsNothing) {
    const any_lock how = GetParam().make(c_);
    EXPECT_TRUE(how.blocking({}).valid());
    for (const auto& form : {how.blocking, how.blocking_in_time}) {
        EXPECT_TRUE(is_empty(form({.stop = stop_requested_before()})));
        EXPECT_TRUE(is_interrupted([&] { return form({}); }));
    }
    EXPECT_TRUE(is_interrupted(how.tried));
    EXPECT_TRUE(how.blocking({}).valid());
}

INSTANTIATE_TEST_SUITE_P(, CanceledThread, every_cancelable, [](const auto& p) {
    return p.param.name;
});

/// Everything else that waits with a stop token.
class CanceledCall : public CanceledThreads {};

TEST_F(CanceledCall, BeforeItBeganGetsNothing) {
    leader_latch latch(c_, "/leader");
    EXPECT_TRUE(latch.wait().valid());
    EXPECT_FALSE(latch.wait(stop_requested_before())) << "its loop would not end";
    EXPECT_FALSE(latch.wait_for(1h, stop_requested_before()));
    EXPECT_TRUE(is_interrupted([&] { return latch.wait(); }));
    EXPECT_TRUE(latch.is_leader()) << "it remains a candidate";

    group g(c_, "/group");
    EXPECT_FALSE(g.join("member", {.stop = stop_requested_before()}));
    EXPECT_TRUE(is_interrupted([&] { return g.join("member"); }));
    EXPECT_TRUE(eventually([&] { return g.members().empty(); }));
    EXPECT_TRUE(g.join("member"));

    barrier b(c_, "/barrier");
    EXPECT_FALSE(b.wait(stop_requested_before()));
    EXPECT_TRUE(is_interrupted([&] { return b.wait(); }));
    EXPECT_TRUE(b.wait());

    double_barrier d(c_, "/double", 1);
    EXPECT_FALSE(d.enter(stop_requested_before()));
    EXPECT_TRUE(servers_.children("/double").empty());
    EXPECT_TRUE(d.enter());
    EXPECT_FALSE(d.leave(stop_requested_before()));
    EXPECT_TRUE(d.enter());
    EXPECT_TRUE(d.leave());

    shared_mutex m(c_, "/shared");
    hold h = m.acquire(lock_mode::exclusive);
    for (const lock_mode to : {lock_mode::upgrade, lock_mode::shared}) {
        EXPECT_FALSE(m.convert(h, to, {.stop = stop_requested_before()}));
        EXPECT_EQ(h.mode(), lock_mode::exclusive);
    }
    EXPECT_TRUE(m.convert(h, lock_mode::shared));
    for (const lock_mode to : {lock_mode::upgrade, lock_mode::exclusive}) {
        EXPECT_FALSE(m.convert(h, to, {.stop = stop_requested_before()}));
        EXPECT_EQ(h.mode(), lock_mode::shared);
    }
    EXPECT_TRUE(h.valid());

    mutex kept(c_, "/kept", {.retain_for = 1h});
    { const guard once(kept); }
    EXPECT_THROW(static_cast<void>(guard(kept, acquire_options{.stop = stop_requested_before()})),
                 error);
    EXPECT_TRUE(is_interrupted([&] { kept.lock(); }));
    recursive_mutex again(c_, "/again", {.retain_for = 1h});
    again.lock();
    again.unlock();
    EXPECT_TRUE(is_interrupted([&] { again.lock(); }));
}

/// The answer may have come, and the thread not have noticed it.
TEST_F(CanceledCall, JoinThatIsInterruptedWhenItHasJustEnteredLeavesNoMember) {
    group g(c_, "/group");
    for (int i = 0; i < 200; ++i) {
        membership m;
        boost::thread joins([&] {
            try {
                m = g.join("member");
            } catch (const boost::thread_interrupted&) {
                EXPECT_FALSE(m);
            }
        });
        while (!servers_.exists("/group/member")) {
            std::this_thread::yield();
        }
        joins.interrupt();
        joins.join();
        m.leave();
        ASSERT_TRUE(eventually([&] { return !servers_.exists("/group/member"); }));
    }
}

TEST_F(CanceledCall, EnterThatIsInterruptedWhenItHasJustEnteredLeaves) {
    double_barrier d(c_, "/double", 1);
    for (int i = 0; i < 200; ++i) {
        bool entered = false;
        boost::thread enters([&] {
            try {
                entered = d.enter();
            } catch (const boost::thread_interrupted&) {
                EXPECT_FALSE(d.inside());
            }
        });
        while (!servers_.exists("/double/ready")) {
            std::this_thread::yield();
        }
        enters.interrupt();
        enters.join();
        ASSERT_EQ(d.inside(), entered);
        ASSERT_TRUE(entered ? d.leave() : d.enter() && d.leave());
        ASSERT_TRUE(eventually([&] { return servers_.children("/double").empty(); }));
    }
}

}  // namespace
}  // namespace latchkey::test

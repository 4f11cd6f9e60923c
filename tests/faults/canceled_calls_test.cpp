// A canceled call gets nothing: neither what is at hand, nor what is granted at the same moment.
#include <latchkey/barrier.hpp>
#include <latchkey/curator_semaphore.hpp>
#include <latchkey/double_barrier.hpp>
#include <latchkey/group.hpp>
#include <latchkey/guard.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/multi_mutex.hpp>
#include <latchkey/recursive_mutex.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/shared_mutex.hpp>

#include "eventually.hpp"
#include "every_step.hpp"
#include "plain_coroutine.hpp"
#include "stepped_outcome.hpp"
#include "stepped_test.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <ostream>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <boost/thread/thread.hpp>

namespace latchkey::test {
namespace {

using grant_handler = std::function<void(std::error_code, hold)>;

/// One way to acquire, in all forms that take a stop token.
struct cancelable_way {
    std::function<void(acquire_options, const grant_handler&)> async;
    std::function<void(acquire_options, const grant_handler&)> async_in_time;
    std::function<awaitable<hold>(acquire_options)> awaited;
    std::function<awaitable<hold>(acquire_options)> awaited_in_time;
    std::function<hold(acquire_options)> blocking;
    std::function<hold(acquire_options)> blocking_in_time;
    std::function<hold()> tried;
};

template <class Object, class... Wanted>
cancelable_way way_of(std::shared_ptr<Object> m, Wanted... wanted) {
    return {
        [=](acquire_options o, const grant_handler& done) { m->async_acquire(wanted..., o, done); },
        [=](acquire_options o, const grant_handler& done) {
            m->async_acquire(wanted..., 1h, o, done);
        },
        [=](acquire_options o) { return m->acquire_async(wanted..., std::move(o)); },
        [=](acquire_options o) { return m->acquire_async(wanted..., 1h, std::move(o)); },
        [=](acquire_options o) { return m->acquire(wanted..., std::move(o)); },
        [=](acquire_options o) { return m->try_acquire_for(wanted..., 1h, std::move(o)); },
        [=] { return m->try_acquire(wanted...); }};
}

struct cancelable {
    std::string name;
    std::function<cancelable_way(client&)> make;
};

void PrintTo(const cancelable& k, std::ostream* to) {
    *to << k.name;
}

template <class Lock, class... Wanted>
cancelable cancelable_of(std::string name, lock_options o, Wanted... wanted) {
    return {std::move(name),
            [=](client& c) { return way_of(std::make_shared<Lock>(c, "/lock", o), wanted...); }};
}

template <class Semaphore>
cancelable cancelable_permits(std::string name, lock_options o) {
    return {std::move(name),
            [=](client& c) { return way_of(std::make_shared<Semaphore>(c, "/lock", 3, o), 2U); }};
}

const auto every_cancelable = ::testing::Values(
    cancelable_of<mutex>("mutex", {}),
    cancelable_of<mutex>("kept_mutex", {.retain_for = 1h}),
    cancelable_of<mutex>("passed_mutex", {.local_passes = 5}),
    cancelable{"multi_mutex",
               [](client& c) {
                   return way_of(std::make_shared<multi_mutex>(
                       c, std::vector<std::string>{"/lock", "/beside"}));
               }},
    cancelable_of<shared_mutex>("writer", {}, lock_mode::exclusive),
    cancelable_of<shared_mutex>("kept_writer", {.retain_for = 1h}, lock_mode::exclusive),
    cancelable_of<shared_mutex>("upgrader", {.retain_for = 1h}, lock_mode::upgrade),
    cancelable_of<shared_mutex>("reader", {}, lock_mode::shared),
    cancelable_permits<semaphore>("semaphore", {}),
    cancelable_permits<curator_semaphore>("curator_semaphore", {}));

std::stop_token stop_requested_before() {
    std::stop_source s;
    s.request_stop();
    return s.get_token();
}

class CanceledAcquire : public SteppedTest, public ::testing::WithParamInterface<cancelable> {
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
    cancelable_way way_ = GetParam().make(c_);
};

TEST_P(CanceledAcquire, BeforeItBeganGetsNothingAndSendsNothing) {
    hold_once();
    for (const auto& form : {way_.async, way_.async_in_time}) {
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
class CanceledThread : public ::testing::Test, public ::testing::WithParamInterface<cancelable> {
protected:
    /// Whether the call ends so in a thread that was interrupted before it made the call.
    template <class Call>
    static bool is_interrupted(Call call) {
        std::atomic<bool> go{false};
        std::atomic<bool> interrupted{false};
        boost::thread t([&] {
            {
                const boost::this_thread::disable_interruption not_yet;
                EXPECT_TRUE(eventually([&] { return go.load(); }));
            }
            try {
                static_cast<void>(call());
            } catch (const boost::thread_interrupted&) {
                interrupted = true;
            }
        });
        t.interrupt();
        go = true;
        t.join();
        return interrupted;
    }

    testing::ensemble servers_;
    client c_ = servers_.connect({.session_timeout = 10s});
};

TEST_P(CanceledThread, BeforeItsCallGetsNothing) {
    const cancelable_way how = GetParam().make(c_);
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
class CanceledCall : public CanceledThread {};

cancelable other_calls() {
    return {"other_calls", nullptr};
}

TEST_P(CanceledCall, BeforeItBeganGetsNothing) {
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

INSTANTIATE_TEST_SUITE_P(, CanceledCall, ::testing::Values(other_calls()));

}  // namespace
}  // namespace latchkey::test

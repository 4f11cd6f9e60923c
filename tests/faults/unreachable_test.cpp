#include <latchkey/barrier.hpp>
#include <latchkey/double_barrier.hpp>
#include <latchkey/group.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/multi_mutex.hpp>
#include <latchkey/recursive_mutex.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/shared_mutex.hpp>

#include "eventually.hpp"
#include "stepped_outcome.hpp"
#include "stepped_test.hpp"
#include "unreachable_calls.hpp"

#include <gmock/gmock.h>

// An empty result means: not in time, or canceled. A call that no server has answered fails.

namespace latchkey::test {
namespace {

using std::chrono::nanoseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ValuesIn;

constexpr auto time_limit = 3s;
/// How long a participant may take to leave the queue.
constexpr auto farewell = 1s + 10ms;
constexpr auto session_timeout = 12s;
constexpr int servers = 3;

void stop_all(ensemble& in) {
    for (int i = 0; i < servers; ++i) {
        in.stop_server(i);
    }
}

void start_all(ensemble& in) {
    for (int i = 0; i < servers; ++i) {
        in.start_server(i);
    }
}

class TimedCalls : public SteppedTest, public ::testing::WithParamInterface<timed_recipe> {
protected:
    std::shared_ptr<outcome> begin(nanoseconds within, std::stop_token stop = {}) {
        auto o = std::make_shared<outcome>();
        begun_ = ensemble_.now();
        call_->begin(within, std::move(stop), outcome::into(o, ensemble_));
        return o;
    }

    void expect_ended(const std::shared_ptr<outcome>& o, nanoseconds after) {
        ASSERT_TRUE(ensemble_.run_until([&] { return o->done; }, 60s));
        EXPECT_GE(o->at - begun_, after);
        EXPECT_LE(o->at - begun_, after + farewell);
        EXPECT_FALSE(o->passed);
    }

    client c_ = ensemble_.connect({.session_timeout = session_timeout});
    std::unique_ptr<timed_call> call_ = GetParam().make(ensemble_, c_);
    ensemble::duration begun_{};
};

const auto name_of_recipe = [](const auto& p) { return p.param.name; };

// ---- from the start ----

class TimedFromTheStart : public TimedCalls {};

INSTANTIATE_TEST_SUITE_P(Recipes,
                         TimedFromTheStart,
                         ValuesIn(timed_from_the_start()),
                         name_of_recipe);

TEST_P(TimedFromTheStart, AreUnreachableAtTheirLimitWithoutAServer) {
    stop_all(ensemble_);
    const auto o = begin(time_limit);
    expect_ended(o, time_limit);
    EXPECT_EQ(o->ec, errc::unreachable) << o->ec.message();
}

TEST_P(TimedFromTheStart, AreUnreachableWithinASessionTimeoutIfTheyOnlyTry) {
    stop_all(ensemble_);
    const auto o = begin(0s);
    expect_ended(o, session_timeout);
    EXPECT_EQ(o->ec, errc::unreachable) << o->ec.message();
}

TEST_P(TimedFromTheStart, AreEmptyWhenTheyAreCanceledWithoutAServer) {
    stop_all(ensemble_);
    for (const nanoseconds within : {nanoseconds(60s), nanoseconds::max()}) {
        std::stop_source stop;
        call_ = GetParam().make(ensemble_, c_);
        const auto o = begin(within, stop.get_token());
        ensemble_.run_for(2s);
        ASSERT_FALSE(o->done);
        stop.request_stop();
        expect_ended(o, 2s);
        EXPECT_FALSE(o->ec) << o->ec.message();
    }
}

// ---- all ----

class TimedOfAllRecipes : public TimedCalls {
protected:
    TimedOfAllRecipes() {
        EXPECT_TRUE(ensemble_.run_until([&] { return c_.session_id() != 0; }, 10s));
        call_->prepare();
        ensemble_.run_for(100ms);
    }
};

INSTANTIATE_TEST_SUITE_P(FromTheStart,
                         TimedOfAllRecipes,
                         ValuesIn(timed_from_the_start()),
                         name_of_recipe);
INSTANTIATE_TEST_SUITE_P(OnceInside,
                         TimedOfAllRecipes,
                         ValuesIn(timed_once_inside()),
                         name_of_recipe);

TEST_P(TimedOfAllRecipes, AreUnreachableIfTheServersHaveStopped) {
    stop_all(ensemble_);
    const auto o = begin(time_limit);
    expect_ended(o, time_limit);
    EXPECT_EQ(o->ec, errc::unreachable) << o->ec.message();
}

TEST_P(TimedOfAllRecipes, AreUnreachableIfTheServersStopBeforeTheyAnswer) {
    call_->occupy();
    const auto o = begin(time_limit);
    ensemble_.run_for(one_way / 2);
    stop_all(ensemble_);
    ASSERT_TRUE(ensemble_.run_until([&] { return o->done; }, 60s));
    EXPECT_FALSE(o->passed);
    EXPECT_EQ(o->ec, errc::unreachable) << o->ec.message();
}

TEST_P(TimedOfAllRecipes, AreEmptyBehindAnotherClient) {
    call_->occupy();
    const auto o = begin(time_limit);
    ASSERT_TRUE(ensemble_.run_until([&] { return o->done; }, 60s));
    EXPECT_FALSE(o->passed);
    EXPECT_FALSE(o->ec) << o->ec.message();
}

TEST_P(TimedOfAllRecipes, AreEmptyIfTheServersStopOnceTheyHaveAnswered) {
    call_->occupy();
    const auto o = begin(time_limit);
    ensemble_.run_for(1s);
    stop_all(ensemble_);
    ASSERT_TRUE(ensemble_.run_until([&] { return o->done; }, 60s));
    EXPECT_FALSE(o->passed);
    EXPECT_FALSE(o->ec) << o->ec.message();
}

TEST_P(TimedOfAllRecipes, AreEmptyWhenTheyAreCanceledAfterTheServersHaveStopped) {
    stop_all(ensemble_);
    std::stop_source stop;
    const auto o = begin(time_limit, stop.get_token());
    ensemble_.run_for(1s);
    ASSERT_FALSE(o->done);
    stop.request_stop();
    expect_ended(o, 1s);
    EXPECT_FALSE(o->ec) << o->ec.message();
}

// ---- callers of one object ----

class CallersOfOneObject : public SteppedTest {
protected:
    void expect(const std::shared_ptr<attempt>& a, std::error_code ec) {
        ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 60s));
        EXPECT_FALSE(a->granted);
        EXPECT_EQ(a->ec, ec) << a->ec.message();
    }

    client c_ = ensemble_.connect({.session_timeout = session_timeout});
    mutex m_{c_, "/lock"};
};

TEST_F(CallersOfOneObject, WaitEmptyBehindAValidHoldWithoutAServer) {
    const hold h = held(m_);
    stop_all(ensemble_);
    const auto a = acquire(m_, time_limit);
    const auto t = acquire(m_, 0s);
    expect(a, {});
    expect(t, {});
    EXPECT_TRUE(h.valid());
}

TEST_F(CallersOfOneObject, AreUnreachableBehindACallThatHasReachedNoServer) {
    stop_all(ensemble_);
    const auto first = acquire(m_);
    const auto a = acquire(m_, time_limit);
    const auto t = acquire(m_, 0s);
    expect(a, errc::unreachable);
    expect(t, errc::unreachable);
    EXPECT_FALSE(first->done);
}

TEST_F(CallersOfOneObject, AreEmptyBehindACallThatWaitsInTheQueue) {
    client other = connected();
    mutex theirs(other, "/lock");
    const hold h = held(theirs);
    const auto first = acquire(m_);
    ensemble_.run_for(1s);
    stop_all(ensemble_);
    const auto begun = ensemble_.now();
    const auto a = acquire(m_, time_limit);
    const auto t = acquire(m_, 0s);
    expect(t, {});
    EXPECT_EQ(t->at, begun);
    expect(a, {});
    EXPECT_FALSE(first->done);
}

TEST_F(CallersOfOneObject, AreEmptyBehindACallThatReachesAServerLater) {
    stop_all(ensemble_);
    const auto first = acquire(m_);
    const auto a = acquire(m_, 20s);
    ensemble_.run_for(1s);
    start_all(ensemble_);
    expect_granted(first);
    stop_all(ensemble_);
    expect(a, {});
}

TEST_F(CallersOfOneObject, TryUntilTheServersHaveAnsweredTheCallAhead) {
    held(m_).release();
    settle();
    const auto begun = ensemble_.now();
    const auto first = acquire(m_);
    const auto t = acquire(m_, 0s);
    expect(t, {});
    EXPECT_EQ(t->at - begun, round_trip);
    expect_granted(first);
}

TEST_F(CallersOfOneObject, TakeTheirTurnBehindACallThatReachedNoServer) {
    stop_all(ensemble_);
    const auto first = acquire(m_, time_limit);
    const auto second = acquire(m_, 20s);
    const auto t = acquire(m_, 0s);
    expect(first, errc::unreachable);
    start_all(ensemble_);
    expect_granted(second);
    expect(t, {});
}

// The servers may be fine: what is waited for is a thread of this process.
TEST_F(CallersOfOneObject, AreEmptyBehindALostHoldOnlyWhileAServerIsReached) {
    const hold h = held(m_);
    stop_all(ensemble_);
    ASSERT_TRUE(ensemble_.run_until([&] { return !h.valid(); }, 60s));
    expect(acquire(m_, time_limit), errc::unreachable);
    const auto t = acquire(m_, 0s);
    ensemble_.run_for(1s);
    EXPECT_FALSE(t->done);
    const auto a = acquire(m_, time_limit * 10);
    start_all(ensemble_);
    expect(t, {});
    EXPECT_NE(c_.session_id(), 0);
    expect(acquire(m_, 0s), {});
    expect(a, {});
}

TEST_F(CallersOfOneObject, AreEmptyIfTheyAreCanceledWhileTheyLeave) {
    held(m_).release();
    settle();
    ensemble_.black_hole(c_.session_id());
    std::stop_source stop;
    const auto a = acquire(m_, time_limit, {.stop = stop.get_token(), .reserved = nullptr});
    ensemble_.run_for(time_limit + 500ms);
    ASSERT_FALSE(a->done);
    stop.request_stop();
    expect(a, {});
}

// ---- candidates ----

class WaitingCandidate : public SteppedTest {
protected:
    WaitingCandidate() {
        theirs_.start();
        EXPECT_TRUE(ensemble_.run_until([&] { return theirs_.is_leader(); }, 10s));
        ours_.start();
        EXPECT_TRUE(ensemble_.run_until([&] { return in_queue("/e") == 2; }, 10s));
        ensemble_.run_for(100ms);
    }

    std::shared_ptr<outcome> wait(nanoseconds within) {
        auto o = std::make_shared<outcome>();
        ours_.async_wait(within, {}, [in = outcome::into(o, ensemble_)](auto ec, const auto& l) {
            in(ec, !!l);
        });
        return o;
    }

    client b_ = connected();
    client a_ = connected();
    leader_latch theirs_{b_, "/e"};
    leader_latch ours_{a_, "/e"};
};

TEST_F(WaitingCandidate, WaitsEmptyWithoutAServerIfItWasInTheQueueBefore) {
    stop_all(ensemble_);
    const auto o = wait(time_limit);
    const auto begun = ensemble_.now();
    const auto t = wait(0s);
    ASSERT_TRUE(ensemble_.run_until([&] { return o->done; }, 60s));
    EXPECT_FALSE(o->ec) << o->ec.message();
    EXPECT_FALSE(t->ec) << t->ec.message();
    EXPECT_EQ(t->at, begun);
}

TEST_F(WaitingCandidate, IsUnreachableWithoutAServerIfItHasLostItsPlace) {
    const std::string led = theirs_.leadership().path();
    std::vector<std::string> names = ensemble_.children("/e");
    std::erase_if(names, [&](const auto& name) { return led == "/e/" + name; });
    ensemble_.reset_counters();
    theirs_.leadership().async_transact({operation::remove("/e/" + names.front())},
                                        [](auto, const auto&) {});
    ASSERT_TRUE(
        ensemble_.run_until([&] { return ensemble_.count(a_.session_id()).creates > 0; }, 1s))
        << "it joins again";
    stop_all(ensemble_);
    const auto o = wait(time_limit);
    ASSERT_TRUE(ensemble_.run_until([&] { return o->done; }, 60s));
    EXPECT_EQ(o->ec, errc::unreachable) << o->ec.message();
}

// ---- blocking ----

/// All blocking forms behave as the asynchronous ones do: no server, and a time_limit.
TEST(BlockingCalls, AreUnreachableAtTheirLimitWithoutAServer) {
    ensemble e;
    stop_all(e);
    client c = e.connect();
    constexpr auto soon = 20ms;
    mutex m(c, "/lock");
    recursive_mutex r(c, "/lock");
    multi_mutex all(c, {"/lock", "/more"});
    shared_mutex rw(c, "/rw");
    semaphore s(c, "/s", 2);
    barrier b(c, "/b");
    double_barrier both(c, "/d", 2);
    group g(c, "/g");
    leader_latch l(c, "/e");
    using lock_mode::shared;
    const auto later = [&] { return std::chrono::steady_clock::now() + soon; };
    const std::vector<std::function<void()>> calls{
        [&] { static_cast<void>(m.try_acquire_for(soon)); },
        [&] { static_cast<void>(m.try_acquire_until(later())); },
        [&] { static_cast<void>(m.try_lock_for(soon)); },
        [&] { static_cast<void>(r.try_lock_for(soon)); },
        [&] { static_cast<void>(all.try_acquire_for(soon)); },
        [&] { static_cast<void>(rw.try_acquire_for(shared, soon)); },
        [&] { static_cast<void>(rw.try_lock_shared_for(soon)); },
        [&] { static_cast<void>(s.try_acquire_for(2, soon)); },
        [&] { static_cast<void>(b.wait_for(soon)); },
        [&] { static_cast<void>(both.enter_for(soon)); },
        [&] { static_cast<void>(g.join_for(soon, "name")); },
        [&] { static_cast<void>(l.wait_for(soon)); },
        [&] { static_cast<void>(l.wait_until(later())); }};
    for (std::size_t i = 0; i < calls.size(); ++i) {
        try {
            calls[i]();
            ADD_FAILURE() << "call " << i << " reports nothing";
        } catch (const error& why) {
            EXPECT_EQ(why.code(), errc::unreachable) << "call " << i << ": " << why.what();
        }
    }
    std::error_code ec;
    EXPECT_FALSE(m.try_acquire_for(soon, {}, ec));
    EXPECT_EQ(ec, errc::unreachable);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_FALSE(m.acquire({.stop = stop.get_token(), .reserved = nullptr}));
    EXPECT_FALSE(b.wait(stop.get_token()));
    EXPECT_FALSE(l.wait(stop.get_token()));
}

TEST(BlockingCalls, SayWhatFailedWhereWhyAndWhatToDo) {
    client c = client::connect("127.0.0.1:1");
    ASSERT_TRUE(eventually([&] { return !c.trouble().empty(); }));
    mutex m(c, "/lock");
    leader_latch l(c, "/e");
    barrier b(c, "/b");
    const std::vector<std::pair<std::function<void()>, std::string>> calls{
        {[&] { static_cast<void>(m.try_acquire_for(20ms)); }, "cannot acquire \"/lock\" in time"},
        {[&] { static_cast<void>(l.wait_for(20ms)); },
         "cannot become the leader of \"/e\" in time"},
        {[&] { b.wait_for(20ms); }, "cannot pass the barrier \"/b\" in time"}};
    for (const auto& [call, what] : calls) {
        try {
            call();
            ADD_FAILURE() << what << ": reports nothing";
        } catch (const error& why) {
            EXPECT_EQ(why.code(), errc::unreachable);
            EXPECT_THAT(why.what(),
                        AllOf(HasSubstr(what), HasSubstr("127.0.0.1:1"), HasSubstr("check")));
        }
    }
}

}  // namespace
}  // namespace latchkey::test

#include "stepped_outcome.hpp"
#include "stepped_test.hpp"
#include "unreachable_calls.hpp"

// An empty result means: not in time, or canceled. A call that no server has answered fails.

namespace latchkey::test {
namespace {

using std::chrono::nanoseconds;
using ::testing::ValuesIn;

constexpr auto time_limit = 3s;
/// How long a participant may take to leave the queue.
constexpr auto farewell = 1s + 10ms;
constexpr auto session_timeout = 12s;

class TimedCalls : public SteppedTest, public ::testing::WithParamInterface<timed_recipe> {
protected:
    std::shared_ptr<outcome> begin(nanoseconds within, std::stop_token stop = {}) {
        auto o = std::make_shared<outcome>();
        begun_ = ensemble_.now();
        call_.begin(within, std::move(stop), outcome::into(o, ensemble_));
        return o;
    }

    /// An empty result, or an error.
    void expect_end(const std::shared_ptr<outcome>& o, const std::error_code& ec = {}) {
        ASSERT_TRUE(ensemble_.run_until([&] { return o->done; }, 60s));
        EXPECT_FALSE(o->passed);
        EXPECT_EQ(o->ec, ec) << o->ec.message();
    }

    void expect_end_after(nanoseconds after,
                          const std::shared_ptr<outcome>& o,
                          const std::error_code& ec = {}) {
        expect_end(o, ec);
        EXPECT_GE(o->at - begun_, after);
        EXPECT_LE(o->at - begun_, after + farewell);
    }

    client c_ = ensemble_.connect({.session_timeout = session_timeout});
    timed_call call_ = GetParam().make(ensemble_, c_);
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
    expect_end_after(time_limit, begin(time_limit), errc::unreachable);
}

TEST_P(TimedFromTheStart, AreUnreachableWithinASessionTimeoutIfTheyOnlyTry) {
    stop_all(ensemble_);
    expect_end_after(session_timeout, begin(0s), errc::unreachable);
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
        expect_end_after(2s, o);
    }
}

// ---- all ----

class TimedOfAllRecipes : public TimedCalls {
protected:
    TimedOfAllRecipes() {
        EXPECT_TRUE(ensemble_.run_until([&] { return c_.session_id() != 0; }, 10s));
        call_.prepare();
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
    expect_end_after(time_limit, begin(time_limit), errc::unreachable);
}

TEST_P(TimedOfAllRecipes, AreUnreachableIfTheServersStopBeforeTheyAnswer) {
    call_.occupy();
    const auto o = begin(time_limit);
    ensemble_.run_for(one_way / 2);
    stop_all(ensemble_);
    expect_end(o, errc::unreachable);
}

TEST_P(TimedOfAllRecipes, AreEmptyBehindAnotherClient) {
    call_.occupy();
    expect_end(begin(time_limit));
}

TEST_P(TimedOfAllRecipes, AreEmptyIfTheServersStopOnceTheyHaveAnswered) {
    call_.occupy();
    const auto o = begin(time_limit);
    ensemble_.run_for(1s);
    stop_all(ensemble_);
    expect_end(o);
}

TEST_P(TimedOfAllRecipes, AreEmptyWhenTheyAreCanceledAfterTheServersHaveStopped) {
    stop_all(ensemble_);
    std::stop_source stop;
    const auto o = begin(time_limit, stop.get_token());
    ensemble_.run_for(1s);
    ASSERT_FALSE(o->done);
    stop.request_stop();
    expect_end_after(1s, o);
}

// ---- callers of one object ----

class CallersOfOneObject : public SteppedTest {
protected:
    void expect(const std::shared_ptr<attempt>& a, std::error_code ec) {
        ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 60s));
        EXPECT_TRUE(is_empty(a->granted));
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

}  // namespace
}  // namespace latchkey::test

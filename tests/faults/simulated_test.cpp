#include "stepped_test.hpp"

#include <stop_token>

namespace latchkey::test {
namespace {

/// What the simulation (tests/simulation) has found, as small as it gets.
class Simulated : public SteppedTest {};

/// The second that a cancelled acquire may take is one, not one for the create and one for the
/// delete.
TEST_F(Simulated, CancelWhileCreatingIsToldWithinASecondThoughTheDeleteIsNotConfirmed) {
    client c = connected();
    mutex m(c, "/lock");
    const std::int64_t session = c.session_id();
    ensemble_.black_hole(session);
    std::stop_source stop;
    const auto a = acquire(m, std::chrono::nanoseconds::max(), {.stop = stop.get_token()});
    ensemble_.run_for(10ms);
    const auto cancelled = ensemble_.now();
    stop.request_stop();
    ensemble_.run_for(900ms);
    ASSERT_FALSE(a->done);
    ensemble_.refuse_next(ensemble::operation::remove, -127, session, 1000);
    ensemble_.resume(session);
    ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 10s));
    EXPECT_FALSE(a->granted);
    EXPECT_LE(a->at - cancelled, 1s);
}

TEST_F(Simulated, CreateOfTheDirectoryThatIsThrottledIsTriedAgain) {
    client c = connected();
    mutex m(c, "/a/lock");
    ensemble_.refuse_next(ensemble::operation::create, -127);
    EXPECT_TRUE(held(m));
}

/// Numbers begin again with a new directory: the number of a place that is gone says nothing about
/// who has it now.
TEST_F(Simulated, WaiterWhoseDirectoryWasReplacedJoinsAnew) {
    client a = connected();
    client b = connected();
    client c = connected();
    mutex first(a, "/lock");
    mutex second(b, "/lock");
    mutex third(c, "/lock");
    hold h = held(first);
    const auto waiting = acquire(second);
    settle();
    ensemble_.suspend(b.session_id());
    for (const std::string& name : ensemble_.children("/lock")) {
        ensemble_.remove("/lock/" + name);
    }
    ensemble_.remove("/lock");
    ensemble_.create("/lock");
    ensemble_.create("/lock/somebody");
    hold next = held(third);
    EXPECT_TRUE(next.path().ends_with("0000000001")) << next.path();
    ensemble_.resume(b.session_id());
    ensemble_.run_for(2s);
    EXPECT_FALSE(waiting->done) << waiting->ec.message();
    next.release();
    ASSERT_TRUE(ensemble_.run_until([&] { return waiting->done; }, 10s));
    EXPECT_TRUE(waiting->granted);
}

}  // namespace
}  // namespace latchkey::test

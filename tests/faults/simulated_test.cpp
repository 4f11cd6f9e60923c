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

}  // namespace
}  // namespace latchkey::test

#include "stepped_test.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::test {
namespace {

using op = ensemble::request_kind;

/// What can go wrong with giving a lock up.
class ReleaseFaults : public SteppedTest {
protected:
    static constexpr auto timeout = 12s;
    static constexpr auto tick = 2s;

    std::vector<std::string> lines_;
    client a_ = connected({.session_timeout = timeout, .log = [this](const log_record& line) {
                               lines_.emplace_back(line.text);
                           }});
    client b_ = connected({.session_timeout = timeout});
    mutex mine_{a_, "/lock"};
    mutex theirs_{b_, "/lock"};
};

TEST_F(ReleaseFaults, ReleaseWhileSuspendedIsAtOnceHereAndFollowsOnTheServers) {
    hold h = held(mine_);
    const auto w = acquire(theirs_);
    ensemble_.run_for(1s);
    ensemble_.suspend(a_.session_id());
    ensemble_.run_for(100ms);
    h.release();
    EXPECT_FALSE(h);
    ensemble_.run_for(1s);
    EXPECT_FALSE(w->done);
    ensemble_.resume(a_.session_id());
    expect_granted(w);
    EXPECT_EQ(in_queue(), 1U);
}

TEST_F(ReleaseFaults, ReleaseWhileSuspendedIsDoneByTheEndOfTheSessionToo) {
    hold h = held(mine_);
    const auto w = acquire(theirs_);
    ensemble_.run_for(1s);
    ensemble_.suspend(a_.session_id());
    h.release();
    const auto again = acquire(mine_);
    ensemble_.run_for(1s);
    const std::int64_t session = a_.session_id();
    ensemble_.expire(session);
    expect_granted(w);
    ensemble_.resume(session);
    ensemble_.run_for(5s);
    EXPECT_TRUE(w->granted.valid());
    EXPECT_EQ(in_queue(), 2U);
    w->granted.release();
    expect_granted(again);
}

TEST_F(ReleaseFaults, RefusedDeleteIsToldOnceAndTheEndOfTheSessionFreesTheLock) {
    hold h = held(mine_);
    const auto w = acquire(theirs_);
    ensemble_.run_for(1s);
    const std::string path = h.path();
    ensemble_.refuse_next(op::remove, -102, a_.session_id(), 1'000'000);
    h.release();
    ensemble_.run_for(60s);
    ASSERT_EQ(lines_.size(), 1U);
    EXPECT_NE(lines_.front().find(path), std::string::npos) << lines_.front();
    EXPECT_FALSE(w->done);
    a_.close();
    expect_granted(w);
}

TEST_F(ReleaseFaults, LostHoldsReleaseTakesNothingFromTheNextHolder) {
    hold h = held(mine_);
    const auto w = acquire(theirs_);
    ensemble_.run_for(1s);
    ensemble_.expire(a_.session_id());
    expect_granted(w);
    ensemble_.run_for(1s);
    ensemble_.reset_counters();
    h.release();
    h.release();
    ensemble_.run_for(30s);
    EXPECT_EQ(ensemble_.count().removes, 0U);
    EXPECT_TRUE(w->granted.valid());
    EXPECT_TRUE(ensemble_.exists(w->granted.path()));
}

TEST_F(ReleaseFaults, ZnodeThatIsGoneAlreadyIsReleased) {
    hold h = held(mine_);
    const auto w = acquire(theirs_);
    ensemble_.run_for(1s);
    ensemble_.remove(h.path());
    h.release();
    expect_granted(w);
    w->granted.release();
    EXPECT_TRUE(held(mine_).valid());
    EXPECT_TRUE(lines_.empty()) << lines_.front();
}

TEST_F(ReleaseFaults, HolderThatIsGoneForEverIsReplacedWithinTheTimeoutAndOneAndAHalfTicks) {
    for (auto phase = 0ms; phase < 4000ms; phase += 500ms) {
        client doomed = connected({.session_timeout = timeout});
        mutex m(doomed, "/doomed");
        mutex next(b_, "/doomed");
        const hold h = held(m);
        const auto w = acquire(next);
        ensemble_.run_for(5s + phase);
        const auto crash = ensemble_.now();
        ensemble_.suspend(doomed.session_id());
        expect_granted(w);
        EXPECT_LE(w->at - crash, timeout + tick * 3 / 2 + round_trip) << phase.count();
        EXPECT_FALSE(h.valid());
    }
}

TEST_F(ReleaseFaults, ReleaseWithAWaiterIsOneHandOff) {
    hold h = held(mine_);
    const auto w = acquire(theirs_);
    ensemble_.run_for(5s);
    const auto released = ensemble_.now();
    h.release();
    expect_granted(w);
    EXPECT_EQ(w->at - released, round_trip) << "the delete there, the event back";
}

}  // namespace
}  // namespace latchkey::test

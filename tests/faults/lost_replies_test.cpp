#include "lock_fixture.hpp"

#include <stop_token>
#include <string>

namespace latchkey::test {
namespace {

using when = ensemble::when;

// A connection that breaks once, at each request: unknown_outcomes_test.cpp, every_step_test.cpp.
class LostReply : public LockFaults, public ::testing::WithParamInterface<when> {};

TEST_P(LostReply, OfEachRequestAgainAndAgainDelaysAHoldAndLeavesNothing) {
    for (const op what : {op::create, op::children, op::get, op::multi, op::remove}) {
        for (const auto limit : {for_ever, std::chrono::nanoseconds(0)}) {
            SCOPED_TRACE(std::to_string(static_cast<int>(what)));
            warm_up(mine_);
            ensemble_.fail_next(what, GetParam(), a_.session_id(), 3);
            const auto a = acquire(mine_, limit);
            expect_granted(a);
            ensemble_.run_for(5s);
            EXPECT_TRUE(a->granted.valid());
            EXPECT_EQ(in_queue(), 1U);
            EXPECT_EQ(ensemble_.get(a->granted.path())->czxid, a->granted.token().zxid);
            a->granted.release();
            EXPECT_TRUE(left(0));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Request,
                         LostReply,
                         ::testing::Values(when::before, when::after),
                         [](const auto& p) {
                             return p.param == when::before ? "NotApplied" : "Applied";
                         });

using Session = LockFaults;

// A leader answers the sync of its own client like a read, before what it has proposed is
// committed: only a write is ordered behind a create that is still on its way.
TEST_F(Session, ThatMovesToTheLeaderFindsACreateThatIsNotCommittedYet) {
    warm_up(mine_);
    const int leader = ensemble_.leader();
    ensemble_.move(a_.session_id(), follower());
    ensemble_.run_for(1s);
    ensemble_.lag((leader + 1) % 3, 500ms);
    ensemble_.lag((leader + 2) % 3, 500ms);
    const auto w = acquire(mine_);
    ensemble_.run_for(100ms);  // proposed, and not committed
    ensemble_.move(a_.session_id(), leader);
    expect_granted(w, 30s);
    ensemble_.run_for(5s);
    EXPECT_EQ(in_queue(), 1U);
    EXPECT_EQ(ensemble_.count(a_.session_id()).creates, 1U);
}

TEST_F(Session, ReplacedWithoutAWordIsALoss) {
    const hold h = held(mine_);
    ensemble_.replace(a_.session_id());
    ensemble_.cut(a_.session_id());
    expect_lost(h, loss_reason::session_replaced);
}

TEST_F(Session, WhoseOwnZnodeIsDeletedWhileWaitingJoinsAnewAtTheTail) {
    hold h = held(mine_);
    std::string place;
    const auto w2 = queued(theirs_, for_ever, {.reserved = [&](auto p) { place = p.path; }});
    const auto w3 = queued(third_);
    const std::string lost = place;
    ensemble_.remove(lost);
    ensemble_.run_for(1s);
    EXPECT_NE(place, lost);
    EXPECT_EQ(in_queue(), 3U);
    EXPECT_FALSE(w2->done || w3->done);
    EXPECT_TRUE(h.valid());
    h.release();
    expect_granted_in_order(w3, w2);
    EXPECT_EQ(w2->granted.path(), place);
}

TEST_F(Session, SequenceAtItsEndFailsAndIsNeverGranted) {
    warm_up(mine_);
    ensemble_.set_sequence("/lock", 2147483640);
    const auto w = acquire(mine_);
    EXPECT_EQ(error_of(w), errc::sequence_exhausted);
    EXPECT_TRUE(is_empty(w->granted));
    EXPECT_TRUE(left(0));
}

TEST_F(Session, DirectoryReapedBetweenTwoAcquiresIsMadeAgain) {
    mutex nested(a_, "/a/lock");
    warm_up(nested);
    ensemble_.reap_containers();
    ensemble_.run_for(1s);
    ASSERT_FALSE(ensemble_.exists("/a/lock"));
    EXPECT_TRUE(held(nested).valid());
}

}  // namespace
}  // namespace latchkey::test

#include "stepped_test.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

using when = ensemble::when;
using op = ensemble::request_kind;

/// A connection that breaks at each request of the protocol, before a server acts on it and after.
class LostReply : public SteppedTest, public ::testing::WithParamInterface<when> {
protected:
    client a_ = connected();
    mutex mine_{a_, "/lock"};
};

TEST_P(LostReply, OfTheCreateIsResolvedToOneZnode) {
    held(mine_).release();
    settle();
    ensemble_.fail_next(op::create, GetParam(), a_.session_id());
    const hold h = held(mine_);
    EXPECT_TRUE(h.valid());
    EXPECT_EQ(in_queue(), 1U);
    const auto znode = ensemble_.get(h.path());
    ASSERT_TRUE(znode);
    EXPECT_EQ(znode->czxid, h.token().zxid);
}

TEST_P(LostReply, OfTheFirstCreateOfAPathIsResolved) {
    ensemble_.fail_next(op::create, GetParam(), a_.session_id());
    EXPECT_TRUE(held(mine_).valid());
}

TEST_P(LostReply, OfTheCreateAgainAndAgainIsResolvedToOneZnode) {
    held(mine_).release();
    settle();
    ensemble_.fail_next(op::create, GetParam(), a_.session_id(), 3);
    const hold h = held(mine_);
    EXPECT_EQ(in_queue(), 1U);
}

TEST_P(LostReply, OfACreateThatIsCancelledLeavesNothing) {
    client b = connected();
    mutex theirs(b, "/lock");
    hold h = held(theirs);
    settle();
    ensemble_.fail_next(op::create, GetParam(), a_.session_id());
    std::stop_source stop;
    const auto w =
        acquire(mine_, std::chrono::nanoseconds::max(), {.stop = stop.get_token(), .reserved = {}});
    ensemble_.run_for(one_way);  // the create is on its way
    stop.request_stop();
    ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 10s));
    EXPECT_TRUE(is_empty(w->granted));
    EXPECT_FALSE(w->ec);
    EXPECT_TRUE(ensemble_.run_until([&] { return in_queue() == 1; }, 30s));
    EXPECT_TRUE(h.valid());
}

TEST_P(LostReply, OfTheListIsAskedAgain) {
    held(mine_).release();
    settle();
    ensemble_.fail_next(op::children, GetParam(), a_.session_id());
    EXPECT_TRUE(held(mine_).valid());
    EXPECT_EQ(in_queue(), 1U);
}

TEST_P(LostReply, OfTheWatchesKeepsThePlace) {
    client b = connected();
    mutex theirs(b, "/lock");
    hold h = held(theirs);
    settle();
    ensemble_.fail_next(op::get, GetParam(), a_.session_id(), 2);
    const auto w = acquire(mine_);
    ensemble_.run_for(5s);
    EXPECT_EQ(in_queue(), 2U);
    EXPECT_EQ(ensemble_.count(a_.session_id()).creates, 2U);  // the directory's, and one znode
    h.release();
    expect_granted(w, 10s);
}

TEST_P(LostReply, OfTheDeleteIsRepeatedUntilTheZnodeIsGone) {
    hold h = held(mine_);
    settle();
    ensemble_.fail_next(op::remove, GetParam(), a_.session_id(), 2);
    h.release();
    EXPECT_TRUE(ensemble_.run_until([&] { return in_queue() == 0; }, 10s));
    EXPECT_TRUE(held(mine_).valid());
}

TEST_P(LostReply, OfAGuardedTransactionIsToldAsIndeterminateAndNeverSentAgain) {
    hold h = held(mine_);
    settle();
    ensemble_.fail_next(op::multi, GetParam(), a_.session_id());
    std::error_code ec;
    h.async_transact({operation::create("/effect")},
                     [&](std::error_code e, const auto&) { ec = e; });
    ASSERT_TRUE(ensemble_.run_until([&] { return static_cast<bool>(ec); }, 10s));
    EXPECT_EQ(ec, errc::indeterminate);
    EXPECT_TRUE(ec == error_kind::indeterminate);
    ensemble_.run_for(5s);
    EXPECT_EQ(ensemble_.exists("/effect"), GetParam() == when::after);
    EXPECT_EQ(ensemble_.count().multis, 1U);
    EXPECT_TRUE(h.valid());
}

TEST_P(LostReply, OfATryIsTriedAgain) {
    held(mine_).release();
    settle();
    ensemble_.fail_next(op::children, GetParam(), a_.session_id());
    const auto t = acquire(mine_, 0s);
    expect_granted(t, 30s);
}

INSTANTIATE_TEST_SUITE_P(Request,
                         LostReply,
                         ::testing::Values(when::before, when::after),
                         [](const auto& p) {
                             return p.param == when::before ? "NotApplied" : "Applied";
                         });

class Session : public SteppedTest {};

TEST_F(Session, ThatEndsWithTheCreateInFlightIsFollowedByANewAttempt) {
    client c = connected();
    mutex m(c, "/lock");
    held(m).release();
    settle();
    const auto w = acquire(m);
    ensemble_.expire(c.session_id());
    expect_granted(w, 30s);
    EXPECT_EQ(ensemble_.children("/lock").size(), 1U);
    EXPECT_EQ(ensemble_.get(w->granted.path())->ephemeral_owner, c.session_id());
}

// A leader answers the sync of its own client like a read, before what it has proposed is
// committed: only a write is ordered behind a create that is still on its way.
TEST_F(Session, ThatMovesToTheLeaderFindsACreateThatIsNotCommittedYet) {
    client c = connected();
    mutex m(c, "/lock");
    held(m).release();
    settle();
    const int leader = ensemble_.leader();
    const int follower = (leader + 1) % 3;
    ensemble_.move(c.session_id(), follower);
    ensemble_.run_for(1s);
    for (int i = 0; i < 3; ++i) {
        if (i != leader) {
            ensemble_.lag(i, 500ms);
        }
    }
    const auto w = acquire(m);
    ensemble_.run_for(100ms);  // proposed, and not committed
    ensemble_.move(c.session_id(), leader);
    expect_granted(w, 30s);
    ensemble_.run_for(5s);
    EXPECT_EQ(ensemble_.children("/lock").size(), 1U);
    EXPECT_EQ(ensemble_.count(c.session_id()).creates, 1U);
}

// A create that was thought lost, and another of the same attempt: both are there when it is looked
// for, and nobody wants either.
TEST_F(Session, ThatGivesUpDeletesTheStraysOfItsAttemptToo) {
    client c = connected();
    mutex m(c, "/lock");
    held(m).release();
    settle();
    ensemble_.fail_next(op::create, when::after, c.session_id());
    std::stop_source stop;
    const auto w =
        acquire(m, std::chrono::nanoseconds::max(), {.stop = stop.get_token(), .reserved = {}});
    ASSERT_TRUE(ensemble_.run_until([&] { return ensemble_.children("/lock").size() == 1; }, 1s));
    constexpr std::size_t digits = 10;
    std::string stray = "/lock/" + ensemble_.children("/lock").front();
    stray.replace(stray.size() - digits, digits, "0000000042");
    ensemble_.create(stray);
    stop.request_stop();
    ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 10s));
    EXPECT_TRUE(is_empty(w->granted));
    EXPECT_TRUE(ensemble_.run_until([&] { return ensemble_.children("/lock").empty(); }, 10s));
}

TEST_F(Session, ReplacedWithoutAWordIsALoss) {
    client c = connected();
    mutex m(c, "/lock");
    hold h = held(m);
    const std::int64_t before = c.session_id();
    ensemble_.replace(before);
    ensemble_.cut(before);
    ASSERT_TRUE(
        ensemble_.run_until([&] { return c.session_id() != before && c.session_id() != 0; }, 30s));
    EXPECT_FALSE(h.valid());
    EXPECT_EQ(h.why_lost(), loss_reason::session_replaced);
    EXPECT_TRUE(ensemble_.run_until([&] { return h.lost().stop_requested(); }, 1s));
}

TEST_F(Session, ThatIsMovedToAnotherServerKeepsTheHold) {
    client c = connected();
    mutex m(c, "/lock");
    hold h = held(m);
    for (int server = 0; server < 3; ++server) {
        ensemble_.move(c.session_id(), server);
        ensemble_.run_for(2s);
        EXPECT_TRUE(h.valid()) << server;
    }
}

TEST_F(Session, OfAWaiterKeepsItsPlaceThroughASuspendedConnection) {
    client a = connected();
    client b = connected();
    client c = connected();
    mutex first(a, "/lock");
    mutex second(b, "/lock");
    mutex third(c, "/lock");
    hold h = held(first);
    const auto w2 = acquire(second);
    ensemble_.run_for(100ms);
    const auto w3 = acquire(third);
    ensemble_.run_for(100ms);
    ensemble_.suspend(b.session_id());
    ensemble_.run_for(2s);
    EXPECT_EQ(b.state(), connection_state::suspended);
    h.release();
    ensemble_.run_for(1s);
    EXPECT_FALSE(w3->done);
    ensemble_.resume(b.session_id());
    expect_granted(w2, 10s);
    EXPECT_FALSE(w3->done);
    w2->granted.release();
    expect_granted(w3, 10s);
}

TEST_F(Session, WhosePredecessorLeavesTheQueueWithoutHoldingWaitsOn) {
    client a = connected();
    client b = connected();
    client c = connected();
    mutex first(a, "/lock");
    mutex second(b, "/lock");
    mutex third(c, "/lock");
    hold h = held(first);
    const auto w2 = acquire(second, 1s);
    ensemble_.run_for(100ms);
    const auto w3 = acquire(third);
    ASSERT_TRUE(ensemble_.run_until([&] { return w2->done; }, 10s));
    EXPECT_TRUE(is_empty(w2->granted));
    ensemble_.run_for(1s);
    EXPECT_FALSE(w3->done);
    h.release();
    expect_granted(w3, 10s);
}

TEST_F(Session, WhoseOwnZnodeIsDeletedWhileWaitingJoinsAnewAtTheTail) {
    client a = connected();
    client b = connected();
    client c = connected();
    mutex first(a, "/lock");
    mutex second(b, "/lock");
    mutex third(c, "/lock");
    hold h = held(first);
    std::string place;
    const auto w2 = acquire(
        second, std::chrono::nanoseconds::max(), {.reserved = [&](auto p) { place = p.path; }});
    settle();
    const auto w3 = acquire(third);
    settle();
    const std::string lost = place;
    ensemble_.remove(lost);
    ensemble_.run_for(1s);
    EXPECT_NE(place, lost);
    EXPECT_EQ(ensemble_.children("/lock").size(), 3U);
    EXPECT_FALSE(w2->done || w3->done);
    EXPECT_TRUE(h.valid());
    h.release();
    ASSERT_TRUE(ensemble_.run_until([&] { return w2->done || w3->done; }, 10s));
    EXPECT_TRUE(w3->granted.valid());
    EXPECT_FALSE(w2->done);
    w3->granted.release();
    ASSERT_TRUE(ensemble_.run_until([&] { return w2->done; }, 10s));
    EXPECT_EQ(w2->granted.path(), place);
}

TEST_F(Session, SequenceAtItsEndFailsAndIsNeverGranted) {
    client c = connected();
    mutex m(c, "/lock");
    held(m).release();
    settle();
    ensemble_.set_sequence("/lock", 2147483640);
    const auto w = acquire(m);
    ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 10s));
    EXPECT_TRUE(is_empty(w->granted));
    EXPECT_EQ(w->ec, errc::sequence_exhausted);
    EXPECT_TRUE(ensemble_.run_until([&] { return ensemble_.children("/lock").empty(); }, 5s));
}

TEST_F(Session, DirectoryReapedBetweenTwoAcquiresIsMadeAgain) {
    client c = connected();
    mutex m(c, "/a/lock");
    held(m).release();
    settle();
    ensemble_.reap_containers();
    ensemble_.run_for(1s);
    ASSERT_FALSE(ensemble_.exists("/a/lock"));
    EXPECT_TRUE(held(m).valid());
}

}  // namespace
}  // namespace latchkey::test

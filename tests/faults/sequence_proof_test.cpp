#include "stepped_test.hpp"

#include <string>

namespace latchkey::test {
namespace {

using op = ensemble::request_kind;

/// A client that has acquired a lock several times in a row, alone, sends no list for the next
/// time: the number of its znode proves that it is the first. Here it is not the first.
class SequenceProof : public SteppedTest {
protected:
    SequenceProof() {
        for (int i = 0; i < 3; ++i) {
            held(mine_).release();
            settle();
        }
    }

    /// Ends with a grant, and was proven by a list or not.
    void expect_next(bool listed) {
        settle();
        const auto a = acquire(mine_);
        expect_granted(a, 10s);
        EXPECT_EQ(ensemble_.count(a_.session_id()).children, listed ? 1U : 0U);
        a->granted.release();
        settle();
    }

    [[nodiscard]] std::string participant(int number) const {
        const std::string digits = std::to_string(number);
        return "/_c_00000000-0000-0000-0000-000000000000-lock-" +
               std::string(10 - digits.size(), '0') + digits;
    }

    client a_ = connected();
    client b_ = connected();
    mutex mine_{a_, "/lock"};
    mutex theirs_{b_, "/lock"};
};

TEST_F(SequenceProof, SavesTheListWhileNoOtherParticipantComes) {
    for (int i = 0; i < 5; ++i) {
        expect_next(false);
    }
}

TEST_F(SequenceProof, OfAHolderIsWaitedForByOthers) {
    const hold h = held(mine_);
    const auto other = acquire(theirs_);
    ensemble_.run_for(1s);
    EXPECT_FALSE(other->done);
}

TEST_F(SequenceProof, FailsBehindAnotherHolder) {
    hold theirs = held(theirs_);
    const auto a = acquire(mine_);
    ensemble_.run_for(1s);
    EXPECT_FALSE(a->done);
    theirs.release();
    expect_granted(a, 10s);
}

TEST_F(SequenceProof, FailsAfterAParticipantThatCameAndWent) {
    held(theirs_).release();
    settle();
    for (int i = 0; i < 4; ++i) {
        expect_next(true);
    }
    expect_next(false);  // alone again, for twice as long as before
}

TEST_F(SequenceProof, FailsAfterAnyOtherZnode) {
    ensemble_.create("/lock/foreign");
    expect_next(true);
}

TEST_F(SequenceProof, EndsWithTheConnection) {
    ensemble_.cut(a_.session_id());
    ASSERT_TRUE(
        ensemble_.run_until([&] { return a_.state() == connection_state::suspended; }, 10s));
    ASSERT_TRUE(
        ensemble_.run_until([&] { return a_.state() == connection_state::reconnected; }, 10s));
    expect_next(true);
    expect_next(true);
    expect_next(false);
}

TEST_F(SequenceProof, EndsWithTheSession) {
    ensemble_.expire(a_.session_id());
    const std::int64_t before = a_.session_id();
    ASSERT_TRUE(ensemble_.run_until(
        [&] { return a_.session_id() != 0 && a_.session_id() != before; }, 60s));
    expect_next(true);
    expect_next(true);
    expect_next(false);
}

TEST_F(SequenceProof, EndsWithTheDirectory) {
    const int next = 3;
    ensemble_.remove("/lock");
    ensemble_.create("/lock");
    ensemble_.create("/lock" + participant(0));
    ensemble_.set_sequence("/lock", next);
    const auto a = acquire(mine_);
    ensemble_.run_for(1s);
    EXPECT_FALSE(a->done);
    ensemble_.remove("/lock" + participant(0));
    expect_granted(a, 10s);
}

TEST_F(SequenceProof, EndsWithTheDirectoryBeforeThatIsWatched) {
    mutex mine(a_, "/other");
    for (int i = 0; i < 2; ++i) {
        held(mine).release();
        settle();
    }
    ensemble_.remove("/other");
    ensemble_.create("/other");
    ensemble_.create("/other" + participant(0));
    ensemble_.set_sequence("/other", 2);
    const auto a = acquire(mine);
    ensemble_.run_for(1s);
    EXPECT_FALSE(a->done);
}

TEST_F(SequenceProof, EndsWithTheDirectoryAtAnyMomentOfAnAcquire) {
    constexpr int next = 3;
    for (auto moment = 0us; moment < round_trip; moment += 100us) {
        mutex mine(a_, "/other" + std::to_string(moment.count()));
        for (int i = 0; i < next; ++i) {
            held(mine).release();
            settle();
        }
        const auto a = acquire(mine);
        ensemble_.run_for(moment);
        for (const std::string& name : ensemble_.children(mine.path())) {
            ensemble_.remove(mine.path() + '/' + name);
        }
        ensemble_.remove(mine.path());
        ensemble_.create(mine.path());
        const std::string other = ensemble_.create(mine.path() + participant(0));
        ensemble_.set_sequence(mine.path(), next);
        // If the own create was answered before, the grant is lost with the own znode.
        ensemble_.run_for(1s);
        EXPECT_FALSE(a->granted.valid()) << moment.count();
        ensemble_.remove(other);
        ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 10s));
    }
}

TEST_F(SequenceProof, FailsWhileTheLastZnodeIsThere) {
    ensemble_.refuse_next(op::remove, -102, a_.session_id());
    hold last = held(mine_);
    const std::string path = last.path();
    last.release();
    const auto a = acquire(mine_);
    ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 10s));
    EXPECT_TRUE(a->granted.valid());
    EXPECT_FALSE(ensemble_.exists(path)) << "it was waited for";
}

TEST_F(SequenceProof, SetsItsWatchAgainAfterAChangeOfTheDirectorysData) {
    ensemble_.set("/lock", "of another program");
    settle();
    const hold h = held(mine_);
    EXPECT_EQ(ensemble_.count().children, 0U);
    EXPECT_EQ(ensemble_.count().gets, 1U);
}

TEST_F(SequenceProof, EndsWithTheSequence) {
    ensemble_.set_sequence("/lock", 0x7fffffff - 0x100000 - 3);
    for (int i = 0; i < 4; ++i) {
        held(mine_).release();
        settle();
    }
    const auto a = acquire(mine_);
    ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 10s));
    EXPECT_EQ(a->ec, errc::sequence_exhausted);
}

TEST_F(SequenceProof, OfAnAbandonedAttemptLeavesNothing) {
    const hold theirs = held(theirs_);
    settle();
    const auto a = acquire(mine_, 1ms);
    ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 10s));
    EXPECT_FALSE(a->granted);
    settle();
    EXPECT_EQ(in_queue(), 1U);
}

}  // namespace
}  // namespace latchkey::test

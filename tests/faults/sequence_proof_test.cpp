#include "stepped_test.hpp"

#include <memory>
#include <string>

namespace latchkey::test {
namespace {

using op = ensemble::request_kind;

/// A client that has acquired a lock several times in a row, alone, sends no list for the next
/// time: the number of its znode proves that it is the first. Here it is not the first.
class SequenceProof : public SteppedTest {
protected:
    SequenceProof() { become_alone(); }

    /// From now on numbers count.
    void become_alone() {
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
        return "/lock/_c_00000000-0000-0000-0000-000000000000-lock-" +
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
    expect_next(true);
    expect_next(true);
    expect_next(true);  // the third in a row sets the watch again
    expect_next(false);
}

TEST_F(SequenceProof, FailsAfterAnyOtherZnode) {
    ensemble_.create("/lock/foreign");
    expect_next(true);
}

TEST_F(SequenceProof, EndsWithTheConnection) {
    ensemble_.cut(a_.session_id());
    ASSERT_TRUE(
        ensemble_.run_until([&] { return a_.state() == connection_state::suspended; }, 10s));
    ASSERT_TRUE(ensemble_.run_until(
        [&] { return a_.state() == connection_state::reconnected; }, 10s));
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
    expect_next(true);
    expect_next(false);
}

TEST_F(SequenceProof, EndsWithTheDirectory) {
    const int next = 3;
    ensemble_.remove("/lock");
    ensemble_.create("/lock");
    ensemble_.create(participant(0));
    ensemble_.set_sequence("/lock", next);
    const auto a = acquire(mine_);
    ensemble_.run_for(1s);
    EXPECT_FALSE(a->done);
    ensemble_.remove(participant(0));
    expect_granted(a, 10s);
}

TEST_F(SequenceProof, EndsWithTheDirectoryAtAnyMomentOfAnAcquire) {
    for (auto moment = 0us; moment < round_trip; moment += 100us) {
        become_alone();
        hold last = held(mine_);
        const int next = std::stoi(last.path().substr(last.path().rfind('-') + 1)) + 1;
        last.release();
        settle();
        const auto a = acquire(mine_);
        ensemble_.run_for(moment);
        for (const std::string& name : ensemble_.children("/lock")) {
            ensemble_.remove("/lock/" + name);
        }
        ensemble_.remove("/lock");
        ensemble_.create("/lock");
        ensemble_.create(participant(0));
        ensemble_.set_sequence("/lock", next);
        // Before the event arrives it could be granted as by a list, and be lost at once.
        ensemble_.run_for(1s);
        EXPECT_FALSE(a->granted.valid()) << moment.count();
        ensemble_.remove(participant(0));
        ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 10s));
        a->granted.release();
        settle();
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


TEST_F(SequenceProof, EndsWithAChangeOfTheDirectorysData) {
    ensemble_.set("/lock", "of another program");
    expect_next(true);
    expect_next(false);
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

TEST_F(SequenceProof, DoesNotOutliveItsLock) {
    auto mine = std::make_unique<mutex>(a_, "/other");
    for (int i = 0; i < 3; ++i) {
        held(*mine).release();
        settle();
    }
    mine.reset();
    ensemble_.remove("/other");
    ensemble_.run_for(1s);
}

}  // namespace
}  // namespace latchkey::test

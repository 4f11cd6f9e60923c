#include "client/client_core.hpp"
#include "stepped_test.hpp"

#include <memory>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

/// What can happen to a hold. How long it is believed: validity_test.cpp.
class HoldFaults : public SteppedTest {
protected:
    static constexpr auto timeout = 12s;

    client a_ = connected({.session_timeout = timeout});
    client b_ = connected({.session_timeout = timeout});
    mutex mine_{a_, "/lock"};
    mutex theirs_{b_, "/lock"};
};

TEST_F(HoldFaults, SuspensionStopsTheClockOfValidityFromMovingOnAndTellsSo) {
    std::vector<connection_state> told;
    const subscription s = a_.on_change([&](connection_state now) { told.push_back(now); });
    const hold h = held(mine_);
    ensemble_.run_for(5s);
    ensemble_.suspend(a_.session_id());
    ensemble_.run_for(100ms);
    const auto until = h.valid_until();
    ensemble_.run_for(4s);
    EXPECT_EQ(h.valid_until(), until);
    EXPECT_TRUE(h.valid());
    EXPECT_EQ(told, std::vector{connection_state::suspended});
    ensemble_.resume(a_.session_id());
    ensemble_.run_for(5s);
    EXPECT_GT(h.valid_until(), until);
    EXPECT_EQ(told, (std::vector{connection_state::suspended, connection_state::reconnected}));
}

TEST_F(HoldFaults, ZnodeDeletedWhileSuspendedIsALossOnReconnect) {
    const hold h = held(mine_);
    ensemble_.run_for(1s);
    ensemble_.suspend(a_.session_id());
    ensemble_.remove(h.path());
    ensemble_.run_for(2s);
    EXPECT_TRUE(h.valid()) << "nobody could tell";
    ensemble_.resume(a_.session_id());
    ensemble_.run_for(500ms);
    EXPECT_FALSE(h.valid());
    EXPECT_EQ(h.why_lost(), loss_reason::znode_deleted);
}

TEST_F(HoldFaults, RevocationRequestedWhileSuspendedIsToldOnReconnect) {
    const hold h = held(mine_);
    ensemble_.run_for(1s);
    ensemble_.suspend(a_.session_id());
    ensemble_.set(h.path(), "__REVOKE__");
    ensemble_.run_for(2s);
    EXPECT_FALSE(h.revocation_requested().stop_requested()) << "nobody could tell";
    ensemble_.resume(a_.session_id());
    ensemble_.run_for(500ms);
    EXPECT_TRUE(h.revocation_requested().stop_requested());
    EXPECT_TRUE(h.valid());
}

TEST_F(HoldFaults, RevocationRequestedBeforeTheWatchWasSetIsToldWithIt) {
    const hold h = held(mine_);
    ensemble_.set(h.path(), "__REVOKE__");
    ensemble_.run_for(1s);
    EXPECT_TRUE(h.revocation_requested().stop_requested());
}

TEST_F(HoldFaults, RevocationOfAPlaceThatIsLostIsNotThatOfTheNext) {
    hold first = held(theirs_);
    const auto w = acquire(mine_);
    ensemble_.run_for(500ms);
    const auto places = ensemble_.children("/lock");
    for (const std::string& name : places) {
        if (first.path() != "/lock/" + name) {
            ensemble_.set("/lock/" + name, "__REVOKE__");
        }
    }
    ensemble_.run_for(500ms);
    ensemble_.expire(a_.session_id());
    ensemble_.run_for(5s);
    first.release();
    expect_granted(w, 30s);
    ensemble_.run_for(1s);
    EXPECT_FALSE(w->granted.revocation_requested().stop_requested());
}

TEST_F(HoldFaults, ZnodeDeletedBeforeItsWatchWasSetIsALossWithinAHeartbeat) {
    for (const bool suspended : {false, true}) {
        const hold h = held(mine_);
        if (suspended) {
            ensemble_.suspend(a_.session_id());
        }
        ensemble_.remove(h.path());
        ensemble_.run_for(1s);
        ensemble_.resume(a_.session_id());
        ensemble_.run_for(timeout / 6 + 500ms);
        EXPECT_FALSE(h.valid());
        EXPECT_EQ(h.why_lost(), loss_reason::znode_deleted);
    }
}

TEST_F(HoldFaults, WatchThatWasLostWithItsConnectionIsSetByTheGrant) {
    hold other = held(theirs_);
    ensemble_.fail_next(
        testing::ensemble::request_kind::get, testing::ensemble::when::before, a_.session_id());
    const auto w = acquire(mine_);
    ASSERT_TRUE(ensemble_.run_until([&] { return a_.state() == connection_state::suspended; }, 5s));
    ensemble_.suspend(a_.session_id());
    other.release();
    ensemble_.run_for(1s);
    ensemble_.resume(a_.session_id());
    ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 10s));
    ensemble_.run_for(100ms);
    ASSERT_TRUE(w->granted.valid());
    ensemble_.remove(w->granted.path());
    ensemble_.run_for(100ms);
    EXPECT_FALSE(w->granted.valid()) << "long before the next heartbeat";
}

TEST_F(HoldFaults, DirectoryWipedIsALoss) {
    const hold h = held(mine_);
    const auto w = acquire(theirs_);
    ensemble_.run_for(1s);
    for (const std::string& name : ensemble_.children("/lock")) {
        if ("/lock/" + name != h.path()) {  // else it would be the first, for a moment
            ensemble_.remove("/lock/" + name);
        }
    }
    ensemble_.remove(h.path());
    ensemble_.remove("/lock");
    expect_granted(w, 30s);
    EXPECT_FALSE(h.valid());
    EXPECT_GT(w->granted.token(), h.token()) << "though the numbers began anew";
}

TEST_F(HoldFaults, SessionThatMovesFromServerToServerAgainAndAgainKeepsTheHold) {
    const hold h = held(mine_);
    const auto w = acquire(theirs_);
    for (int i = 0; i < 50; ++i) {
        ensemble_.move(a_.session_id(), i % 3);
        ensemble_.run_for(150ms);
        ASSERT_TRUE(h.valid()) << i;
    }
    ensemble_.run_for(10s);
    EXPECT_TRUE(h.valid());
    EXPECT_FALSE(w->done);
}

TEST_F(HoldFaults, LeaderThatDiesAgainAndAgainKeepsTheHold) {
    const hold h = held(mine_);
    const auto w = acquire(theirs_);
    ensemble_.run_for(1s);
    for (int i = 0; i < 4; ++i) {
        const int leader = ensemble_.leader();
        ensemble_.move(a_.session_id(), leader);
        ensemble_.run_for(1s);
        ensemble_.stop_server(leader);
        ensemble_.run_for(10s);
        ASSERT_TRUE(h.valid()) << i;
        ensemble_.start_server(leader);
        ensemble_.run_for(5s);
    }
    EXPECT_FALSE(w->done);
}

TEST_F(HoldFaults, QuorumLostForLessThanTheDeadlineKeepsTheHoldAndGrantsNobody) {
    const hold h = held(mine_);
    const auto w = acquire(theirs_);
    ensemble_.run_for(1s);
    const int leader = ensemble_.leader();
    ensemble_.stop_server((leader + 1) % 3);
    ensemble_.stop_server((leader + 2) % 3);
    ensemble_.run_for(3s);
    ensemble_.start_server((leader + 1) % 3);
    ensemble_.start_server((leader + 2) % 3);
    ensemble_.run_for(20s);
    EXPECT_TRUE(h.valid());
    EXPECT_FALSE(w->done);
}

TEST_F(HoldFaults, QuorumLostForLongIsALossBeforeAnybodyIsGranted) {
    const hold h = held(mine_);
    const auto w = acquire(theirs_);
    ensemble_.run_for(1s);
    const int leader = ensemble_.leader();
    ensemble_.stop_server((leader + 1) % 3);
    ensemble_.stop_server((leader + 2) % 3);
    ASSERT_TRUE(ensemble_.run_until([&] { return !h.valid(); }, timeout));
    EXPECT_EQ(h.why_lost(), loss_reason::deadline_passed);
    EXPECT_FALSE(w->done);
    ensemble_.start_server((leader + 1) % 3);
    ensemble_.start_server((leader + 2) % 3);
    ensemble_.run_for(60s);
    EXPECT_FALSE(h.valid()) << "it came back";
    EXPECT_FALSE(w->done) << "its znode is there until it is released";
}

TEST_F(HoldFaults, LossIsToldOnceAndTheFirstCauseStays) {
    hold h = held(mine_);
    ensemble_.run_for(1s);
    int told = 0;
    const std::stop_callback count(h.lost(), [&] { ++told; });
    ensemble_.remove(h.path());
    ensemble_.run_for(1s);
    ensemble_.expire(a_.session_id());
    ensemble_.run_for(30s);
    a_.close();
    ensemble_.run_for(10s);
    EXPECT_EQ(told, 1);
    EXPECT_EQ(h.why_lost(), loss_reason::znode_deleted);
}

TEST_F(HoldFaults, LostOneCommitsNothingThoughItsZnodeIsStillThere) {
    hold h = held(mine_);
    ensemble_.run_for(1s);
    for (int i = 0; i < 3; ++i) {
        ensemble_.pause_server(i);
    }
    ASSERT_TRUE(ensemble_.run_until([&] { return !h.valid(); }, timeout));
    for (int i = 0; i < 3; ++i) {
        ensemble_.resume_server(i);
    }
    ensemble_.run_for(5s);
    ASSERT_TRUE(ensemble_.exists(h.path()));
    std::error_code ec;
    h.async_transact({operation::create("/effect")},
                     [&](std::error_code e, const auto&) { ec = e; });
    ASSERT_TRUE(ensemble_.run_until([&] { return static_cast<bool>(ec); }, 10s));
    EXPECT_EQ(ec, errc::hold_lost);
    EXPECT_FALSE(ensemble_.exists("/effect"));
}

TEST_F(HoldFaults, TransactionInFlightWhenTheClientIsClosedIsIndeterminate) {
    hold h = held(mine_);
    ensemble_.run_for(1s);
    ensemble_.black_hole(a_.session_id());
    std::error_code ec;
    h.async_transact({operation::create("/effect")},
                     [&](std::error_code e, const auto&) { ec = e; });
    ensemble_.run_for(one_way);
    a_.close();
    ASSERT_TRUE(ensemble_.run_until([&] { return static_cast<bool>(ec); }, 10s));
    EXPECT_EQ(ec, errc::indeterminate);
}

TEST_F(HoldFaults, TransactionWithACodeThatHasNoWordIsIndeterminate) {
    hold h = held(mine_);
    ensemble_.run_for(1s);
    for (const int code : {-999, -5}) {
        ensemble_.refuse_next(ensemble::request_kind::multi, code, a_.session_id());
        std::error_code ec;
        h.async_transact({operation::create("/effect")},
                         [&](std::error_code e, const auto&) { ec = e; });
        ASSERT_TRUE(ensemble_.run_until([&] { return static_cast<bool>(ec); }, 10s));
        EXPECT_EQ(ec, errc::indeterminate) << code;
    }
}

/// The session ends on the loop, while other threads ask.
TEST_F(HoldFaults, AskedWhileItsSessionEndsNamesThatAsTheReason) {
    struct other_thread final : session_listener {
        void session_ended(loss_reason) override {
            EXPECT_FALSE(of->valid());
            reason = of->why_lost();
        }

        void client_closed(const failure&) override {}

        hold* of = nullptr;
        loss_reason reason = loss_reason::none;
    };

    const auto asks = std::make_shared<other_thread>();
    client_core::of(a_)->attach(asks);  // it is notified ahead of the hold
    hold h = held(mine_);
    asks->of = &h;
    ensemble_.expire(a_.session_id());
    ASSERT_TRUE(ensemble_.run_until([&] { return h.lost().stop_requested(); }, 30s));
    EXPECT_EQ(asks->reason, loss_reason::session_expired);
    EXPECT_EQ(h.why_lost(), loss_reason::session_expired);
    client_core::of(a_)->detach(asks.get());
}

TEST_F(HoldFaults, AfterALossTheSameObjectAcquiresAgain) {
    for (int i = 0; i < 3; ++i) {
        hold h = held(mine_);
        ensemble_.expire(a_.session_id());
        ASSERT_TRUE(ensemble_.run_until([&] { return h.lost().stop_requested(); }, 30s));
        EXPECT_FALSE(h.valid());
        h.release();
    }
    EXPECT_TRUE(held(mine_).valid());
}

}  // namespace
}  // namespace latchkey::test

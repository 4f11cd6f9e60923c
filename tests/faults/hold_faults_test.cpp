#include "lock_fixture.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

/// What can happen to a hold, and to its release. How long it is believed: validity_test.cpp.
using HoldFaults = LockFaults;

TEST_F(HoldFaults, FaultsThatEndInTimeKeepTheHoldAndGrantNobody) {
    const hold h = held(mine_);
    const auto w = queued(theirs_);
    const auto stays = [&](ensemble::duration time) {
        EXPECT_FALSE(soon([&] { return !h.valid() || w->done; }, time)) << to_string(h.why_lost());
    };
    const std::int64_t session = a_.session_id();
    const std::vector<named_step> faults{{"the session moves from server to server",
                                          [&] {
                                              for (int i = 0; i < 50; ++i) {
                                                  ensemble_.move(session, i % 3);
                                                  stays(150ms);
                                              }
                                          }},
                                         {"the leader dies again and again",
                                          [&] {
                                              for (int i = 0; i < 4; ++i) {
                                                  const int leader = ensemble_.leader();
                                                  ensemble_.move(session, leader);
                                                  stays(1s);
                                                  ensemble_.stop_server(leader);
                                                  stays(10s);
                                                  ensemble_.start_server(leader);
                                                  stays(5s);
                                              }
                                          }},
                                         {"each server is restarted",
                                          [&] {
                                              for (int i = 0; i < 3; ++i) {
                                                  ensemble_.stop_server(i);
                                                  stays(2s);
                                                  ensemble_.start_server(i);
                                                  stays(6s);
                                              }
                                          }},
                                         {"there is no quorum for a while",
                                          [&] {
                                              const int leader = ensemble_.leader();
                                              ensemble_.stop_server((leader + 1) % 3);
                                              ensemble_.stop_server((leader + 2) % 3);
                                              stays(3s);
                                              ensemble_.start_server((leader + 1) % 3);
                                              ensemble_.start_server((leader + 2) % 3);
                                              stays(20s);
                                          }},
                                         {"its server is cut off from the others",
                                          [&] {
                                              const int cut_off = follower();
                                              ensemble_.move(session, cut_off);
                                              stays(1s);
                                              ensemble_.isolate(cut_off);
                                              stays(30s);
                                              ensemble_.heal(cut_off);
                                          }},
                                         {"the process is stopped for a third of the timeout", [&] {
                                              for (auto phase = 0ms; phase < 2000ms;
                                                   phase += 100ms) {
                                                  stays(10s + phase);
                                                  ensemble_.pause(session);
                                                  ensemble_.run_for(timeout / 3);
                                                  ensemble_.resume(session);
                                                  stays(20s);
                                              }
                                          }}};
    for (const named_step& f : faults) {
        SCOPED_TRACE(f.name);
        f.happens();
        stays(20s);
        ASSERT_FALSE(HasFailure());
    }
}

TEST_F(HoldFaults, SuspensionStopsTheClockOfValidityFromMovingOnAndIsReported) {
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
    EXPECT_EQ(a_.state(), connection_state::suspended);
    ensemble_.resume(a_.session_id());
    ensemble_.run_for(10s);
    EXPECT_TRUE(h.valid());
    EXPECT_GT(h.valid_until(), until);
    EXPECT_EQ(a_.state(), connection_state::reconnected);
    EXPECT_EQ(told, (std::vector{connection_state::suspended, connection_state::reconnected}));
}

/// Whether the change comes before the watch is set, and while there is a connection.
TEST_F(HoldFaults, ChangeOfTheZnodeThatNoWatchShowsIsLearntAllTheSame) {
    for (const auto& [at, suspended] : {std::pair(0s, false), {0s, true}, {1s, true}}) {
        for (const bool deleted : {false, true}) {
            SCOPED_TRACE(suspended ? "suspended" : "connected");
            hold h = held(mine_);
            ensemble_.run_for(at);
            if (suspended) {
                ensemble_.suspend(a_.session_id());
            }
            deleted ? ensemble_.remove(h.path()) : ensemble_.set(h.path(), "__REVOKE__");
            if (suspended) {
                ensemble_.run_for(2s);
                EXPECT_TRUE(h.valid()) << "nobody could tell";
                EXPECT_FALSE(h.revocation_requested().stop_requested());
                ensemble_.resume(a_.session_id());
            }
            ensemble_.run_for(at == 0s && deleted ? timeout / 6 + 500ms : 1s);
            EXPECT_EQ(h.valid(), !deleted);
            EXPECT_EQ(h.why_lost(), deleted ? loss_reason::znode_deleted : loss_reason::none);
            EXPECT_EQ(h.revocation_requested().stop_requested(), !deleted);
        }
    }
}

TEST_F(HoldFaults, RevocationOfAPlaceThatIsLostIsNotThatOfTheNext) {
    hold first = held(theirs_);
    std::string place;
    const auto w = queued(mine_, for_ever, {.reserved = [&](auto p) { place = p.path; }});
    ensemble_.set(place, "__REVOKE__");
    ensemble_.run_for(500ms);
    ensemble_.expire(a_.session_id());
    ensemble_.run_for(5s);
    first.release();
    expect_granted(w, 30s);
    ensemble_.run_for(1s);
    EXPECT_FALSE(w->granted.revocation_requested().stop_requested());
}

TEST_F(HoldFaults, WatchThatWasLostWithItsConnectionIsSetByTheGrant) {
    hold other = held(theirs_);
    ensemble_.fail_next(op::get, when::before, a_.session_id());
    const auto w = acquire(mine_);
    ASSERT_TRUE(soon([&] { return a_.state() == connection_state::suspended; }, 5s));
    ensemble_.suspend(a_.session_id());
    other.release();
    ensemble_.run_for(1s);
    ensemble_.resume(a_.session_id());
    expect_granted(w, 10s);
    ensemble_.run_for(100ms);
    ensemble_.remove(w->granted.path());
    ensemble_.run_for(100ms);
    EXPECT_FALSE(w->granted.valid()) << "long before the next heartbeat";
}

TEST_F(HoldFaults, DirectoryWipedIsALoss) {
    const hold h = held(mine_);
    std::string place;
    const auto w = queued(theirs_, for_ever, {.reserved = [&](auto p) { place = p.path; }});
    for (const std::string& path : {place, h.path(), std::string("/lock")}) {
        ensemble_.remove(path);
    }
    expect_granted(w, 30s);
    EXPECT_FALSE(h.valid());
    EXPECT_GT(w->granted.token(), h.token()) << "though the numbers began anew";
}

TEST_F(HoldFaults, LossIsReportedOnceAndTheFirstCauseStays) {
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

TEST_F(HoldFaults, TransactionInFlightWhenTheClientIsClosedIsIndeterminate) {
    hold h = held(mine_);
    ensemble_.run_for(1s);
    ensemble_.black_hole(a_.session_id());
    std::error_code ec;
    h.async_transact({operation::create("/effect")},
                     [&](std::error_code e, const auto&) { ec = e; });
    ensemble_.run_for(one_way);
    a_.close();
    ASSERT_TRUE(soon([&] { return static_cast<bool>(ec); }, 10s));
    EXPECT_EQ(ec, errc::indeterminate);
}

TEST_F(HoldFaults, TransactionWithACodeThatHasNoWordIsIndeterminate) {
    hold h = held(mine_);
    ensemble_.run_for(1s);
    for (const int code : {-999, -5}) {
        ensemble_.refuse_next(op::multi, code, a_.session_id());
        EXPECT_EQ(error_of_transaction(h, operation::create("/effect")), errc::indeterminate)
            << code;
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
    expect_lost(h, loss_reason::session_expired);
    EXPECT_EQ(asks->reason, loss_reason::session_expired);
    client_core::of(a_)->detach(asks.get());
}

// ---- the release ----

/// One client holds, and another waits.
class ReleaseFaults : public LockFaults {
protected:
    hold h_ = held(mine_);
    const std::shared_ptr<attempt> next_ = queued(theirs_);
};

TEST_F(ReleaseFaults, ReleaseWhileSuspendedIsAtOnceHereAndFollowsOnTheServers) {
    ensemble_.suspend(a_.session_id());
    ensemble_.run_for(100ms);
    h_.release();
    EXPECT_FALSE(h_);
    ensemble_.run_for(1s);
    EXPECT_FALSE(next_->done);
    ensemble_.resume(a_.session_id());
    expect_granted(next_);
    EXPECT_EQ(in_queue(), 1U);
}

TEST_F(ReleaseFaults, ReleaseWhileSuspendedIsDoneByTheEndOfTheSessionToo) {
    ensemble_.suspend(a_.session_id());
    h_.release();
    const auto again = acquire(mine_);
    ensemble_.run_for(1s);
    const std::int64_t session = a_.session_id();
    ensemble_.expire(session);
    expect_granted(next_);
    ensemble_.resume(session);
    ensemble_.run_for(5s);
    EXPECT_TRUE(next_->granted.valid());
    EXPECT_EQ(in_queue(), 2U);
    next_->granted.release();
    expect_granted(again);
}

TEST_F(ReleaseFaults, RefusedDeleteIsLoggedOnceAndTheEndOfTheSessionFreesTheLock) {
    const std::string path = h_.path();
    ensemble_.refuse_next(op::remove, no_auth, a_.session_id(), 1'000'000);
    h_.release();
    ensemble_.run_for(60s);
    ASSERT_EQ(log_.size(), 1U);
    EXPECT_NE(log_.front().find(path), std::string::npos) << log_.front();
    EXPECT_FALSE(next_->done);
    a_.close();
    expect_granted(next_);
}

TEST_F(ReleaseFaults, LostHoldsReleaseTakesNothingFromTheNextHolder) {
    ensemble_.expire(a_.session_id());
    expect_granted(next_);
    ensemble_.run_for(1s);
    ensemble_.reset_counters();
    h_.release();
    h_.release();
    ensemble_.run_for(30s);
    EXPECT_EQ(ensemble_.count().removes, 0U);
    EXPECT_TRUE(next_->granted.valid());
    EXPECT_TRUE(ensemble_.exists(next_->granted.path()));
}

TEST_F(ReleaseFaults, ZnodeThatIsGoneAlreadyIsReleased) {
    ensemble_.remove(h_.path());
    h_.release();
    expect_granted(next_);
    next_->granted.release();
    EXPECT_TRUE(held(mine_).valid());
    EXPECT_TRUE(log_.empty()) << log_.front();
}

TEST_F(ReleaseFaults, HolderThatIsGoneForEverIsReplacedWithinTheTimeoutAndOneAndAHalfTicks) {
    constexpr auto tick = 2s;
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
    ensemble_.run_for(5s);
    const auto released = ensemble_.now();
    h_.release();
    expect_granted(next_);
    EXPECT_EQ(next_->at - released, round_trip) << "the delete there, the event back";
}

}  // namespace
}  // namespace latchkey::test

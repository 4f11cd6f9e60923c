#include "ensemble/ensemble_access.hpp"
#include "lock_fixture.hpp"
#include "session/connect_string.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

/// A hold is invalid before the servers can grant the lock to anybody else, whatever breaks.
class Validity : public LockFaults {
protected:
    /// Which `h` has left, by the clock of the ensemble.
    ensemble::duration left_of(const hold& h) {
        return h.valid_until().time_since_epoch() - ensemble_.now();
    }

    /// A holder is cut off while another participant waits.
    void expect_no_overlap(const std::function<void()>& cut_off) {
        ensemble_.run_for(1s);
        const hold h = held(mine_);
        const auto w = queued(theirs_);
        ensemble_.run_for(30s);
        const auto begun = ensemble_.now();
        cut_off();
        ASSERT_TRUE(soon([&] { return !h.valid() || w->done; }));
        EXPECT_FALSE(w->done);
        EXPECT_EQ(h.why_lost(), loss_reason::deadline_passed);
        EXPECT_GT(ensemble_.now(), begun + timeout * 2 / 5);
        expect_granted(w, 120s);
        EXPECT_FALSE(h.valid());
    }
};

TEST_F(Validity, LastsAsLongAsServersAnswer) {
    const hold h = held(mine_);
    for (int i = 0; i < 60; ++i) {
        ensemble_.run_for(1s);
        ASSERT_TRUE(h.valid()) << i;
        ASSERT_GT(left_of(h), timeout * 2 / 5) << i;
    }
}

TEST_F(Validity, EndsAtItsDeadlineMoreThanTwoFifthsOfTheTimeoutAfterTheLastAnswer) {
    const hold h = held(mine_);
    ensemble_.run_for(30s);
    const auto until = h.valid_until().time_since_epoch();
    EXPECT_GT(left_of(h), timeout * 2 / 5);
    EXPECT_LT(left_of(h), timeout * 3 / 5);
    ensemble_.black_hole(a_.session_id());
    ASSERT_TRUE(soon([&] { return !h.valid(); }, 30s));
    EXPECT_EQ(ensemble_.now(), until);
    EXPECT_EQ(h.why_lost(), loss_reason::deadline_passed);
}

TEST_F(Validity, LastsLongerWhenTheTickIsKnown) {
    client c = connected({.session_timeout = timeout, .tick = 2s});
    mutex m(c, "/other");
    const hold h = held(m);
    ensemble_.run_for(30s);
    EXPECT_GT(left_of(h), timeout * 11 / 20);
}

// ---- no overlap ----

TEST_F(Validity, BlackHoledHolderIsInvalidBeforeAnotherIsGranted) {
    expect_no_overlap([&] { ensemble_.black_hole(a_.session_id()); });
}

TEST_F(Validity, HolderThatOnlySeesAnIsolatedFollowerIsInvalidBeforeAnotherIsGranted) {
    const int cut_off = follower();
    ensemble_.move(b_.session_id(), ensemble_.leader());
    ensemble_.move(a_.session_id(), cut_off);
    expect_no_overlap([&] {
        ensemble_.confine(a_.session_id(), cut_off);
        ensemble_.isolate(cut_off);
    });
}

TEST_F(Validity, HolderOnADeposedLeaderIsInvalidBeforeAnotherIsGranted) {
    const int old_leader = ensemble_.leader();
    ensemble_.move(a_.session_id(), old_leader);
    ensemble_.move(b_.session_id(), follower());
    expect_no_overlap([&] {
        ensemble_.confine(a_.session_id(), old_leader);
        ensemble_.isolate(old_leader);
    });
}

/// Every clock is off by one percent, as max_clock_drift allows: the holder's is slow, and those of
/// the servers are fast.
TEST_F(Validity, HolderWithASlowClockIsInvalidBeforeAnotherIsGranted) {
    ensemble_.set_clock_rate(a_.session_id(), 0.99);
    for (int i = 0; i < 3; ++i) {
        ensemble_.set_server_clock_rate(i, 1.01);
    }
    expect_no_overlap([&] { ensemble_.black_hole(a_.session_id()); });
}

TEST_F(Validity, PausedHolderWakesUpInvalidAndCommitsNothing) {
    for (const bool asks_first : {true, false}) {
        hold h = held(mine_);
        const auto w = queued(theirs_);
        ensemble_.run_for(1s);
        const std::int64_t session = a_.session_id();
        ensemble_.pause(session);
        expect_granted(w);
        if (asks_first) {  // no event was delivered to it yet
            EXPECT_FALSE(h.valid());
            EXPECT_EQ(h.why_lost(), loss_reason::deadline_passed);
        }
        ensemble_.resume(session);
        EXPECT_EQ(error_of_transaction(h, operation::create("/effect")), errc::hold_lost);
        EXPECT_FALSE(ensemble_.exists("/effect"));
        ensemble_.run_for(5s);
        EXPECT_TRUE(h.lost().stop_requested());
        EXPECT_FALSE(h.valid());
        EXPECT_GT(w->granted.token(), h.token());
    }
}

// ---- what does not prolong a hold, and what does not end it ----

// The old leader answers connects by itself, until it notices that it has no followers.
TEST_F(Validity, ConnectToADeposedLeaderDoesNotProlongAHold) {
    const int old_leader = ensemble_.leader();
    ensemble_.move(a_.session_id(), follower());
    ensemble_.run_for(1s);
    const hold h = held(mine_);
    ensemble_.run_for(30s);
    ensemble_.isolate(old_leader);
    ensemble_.confine(a_.session_id(), old_leader);
    const auto until = h.valid_until();
    ASSERT_TRUE(soon([&] { return a_.state() == connection_state::reconnected; }, 2s));
    EXPECT_EQ(h.valid_until(), until);
    ensemble_.run_for(2s);
    EXPECT_EQ(h.valid_until(), until);
}

// Without a quorum no server can end the session either, and the znode stays.
TEST_F(Validity, LostByTheDeadlineStaysLostAndCommitsNothingWhenTheSessionTurnsOutToLive) {
    const int leader = ensemble_.leader();
    const std::vector<int> followers{(leader + 1) % 3, (leader + 2) % 3};
    const auto all_followers = [&](void (ensemble::*what)(int)) {
        for (const int f : followers) {
            (ensemble_.*what)(f);
        }
    };
    const std::vector<std::pair<named_step, named_step>> outages{
        {{"all servers stall", [&] { all_servers(&ensemble::pause_server); }},
         {"they go on", [&] { all_servers(&ensemble::resume_server); }}},
        {{"the followers stop", [&] { all_followers(&ensemble::stop_server); }},
         {"they start", [&] { all_followers(&ensemble::start_server); }}}};
    for (const auto& [begins, ends] : outages) {
        SCOPED_TRACE(begins.name);
        hold h = held(mine_);
        const auto w = queued(theirs_);
        begins.happens();
        expect_lost(h, loss_reason::deadline_passed, timeout);
        EXPECT_FALSE(w->done);
        ends.happens();
        ensemble_.run_for(60s);
        EXPECT_FALSE(h.valid()) << "it came back";
        ASSERT_TRUE(ensemble_.exists(h.path()));
        EXPECT_EQ(error_of_transaction(h, operation::create("/effect")), errc::hold_lost);
        EXPECT_FALSE(ensemble_.exists("/effect"));
        EXPECT_FALSE(w->done) << "the znode is there until the work has drained";
        h.release();
        expect_granted(w);
    }
}

TEST_F(Validity, WatchEventThatWasBufferedThroughAPauseIsNoGrant) {
    hold h = held(mine_);
    const auto w = queued(theirs_);
    const std::int64_t session = b_.session_id();
    h.release();
    ensemble_.run_for(1ms);  // the event is on its way
    ensemble_.pause(session);
    const auto w3 = acquire(third_);
    expect_granted(w3);
    ensemble_.resume(session);
    ensemble_.run_for(5s);
    EXPECT_TRUE(w3->granted.valid());
    EXPECT_FALSE(w->done && w->granted.valid());
    w3->granted.release();
    expect_granted(w);
}

class ShortSession : public LockSteps {
protected:
    static constexpr auto timeout = 1200ms;

    ShortSession() : LockSteps(quick()) {}

    static ensemble::options quick() {
        ensemble::options o = exact();
        o.tick = timeout / 4;
        return o;
    }
};

// Then one write proves nothing by itself: the next one has to follow soon.
TEST_F(ShortSession, WhoseAnswersAreAlwaysLateIsBelievedSoonWhenItIsItsTurn) {
    const client_options how{.session_timeout = timeout, .max_clock_drift = 0.1};
    client a = connected(how);
    client b = connected(how);
    mutex first(a, "/lock");
    mutex second(b, "/lock");
    const int behind = follower();
    ensemble_.move(a.session_id(), ensemble_.leader());
    ensemble_.move(b.session_id(), behind);
    ensemble_.run_for(1s);
    for (auto late = 40ms; late <= 120ms; late += 20ms) {
        SCOPED_TRACE(std::to_string(late.count()) + " ms");
        hold h = held(first);
        const auto w = acquire(second);
        ensemble_.run_for(2s);
        ensemble_.lag(behind, late);
        ensemble_.run_for(3s + late);
        h.release();
        const auto released = ensemble_.now();
        expect_granted(w, 20s);
        EXPECT_LT(w->at - released, timeout);
        ensemble_.lag(behind, 0ms);
    }
}

/// A loop on which something happens while its clock is read, once.
class interrupted_loop final : public loop {
public:
    explicit interrupted_loop(std::shared_ptr<loop> on) : on_(std::move(on)) {}

    [[nodiscard]] clock::time_point now() const noexcept override {
        const auto read = on_->now();
        if (const auto what = std::exchange(meanwhile, nullptr)) {
            what();
        }
        return read;
    }

    void post(task t) override { on_->post(std::move(t)); }

    timer_id start_timer(clock::time_point at, task t) override {
        return on_->start_timer(at, std::move(t));
    }

    void cancel_timer(timer_id id) noexcept override { on_->cancel_timer(id); }

    [[nodiscard]] std::uint64_t random() override { return on_->random(); }

    [[nodiscard]] bool on_loop() const noexcept override { return on_->on_loop(); }

    [[nodiscard]] bool stepped() const noexcept override { return on_->stepped(); }

    mutable std::function<void()> meanwhile;

private:
    const std::shared_ptr<loop> on_;
};

// Another thread loses the hold, and proves the session, between two steps of valid().
TEST_F(Validity, IsNotConfirmedOnceMoreWhileItIsLost) {
    runtime env = testing::ensemble_access::runtime_of(ensemble_);
    const auto clock = std::make_shared<interrupted_loop>(env.loop);
    env.loop = clock;
    client c = client_core::handle(client_core::start(
        env, parse_connect_string(ensemble_.servers()), {.session_timeout = timeout}));
    mutex m(c, "/lock");
    const hold h = held(m);
    ensemble_.run_for(30s);
    clock->meanwhile = [&] {
        ensemble_.black_hole(c.session_id());
        EXPECT_TRUE(soon([&] { return h.lost().stop_requested(); }, 30s));
        ensemble_.resume(c.session_id());
        EXPECT_TRUE(soon([&] { return c.state() == connection_state::reconnected; }, 30s));
        ensemble_.run_for(1s);
    };
    EXPECT_FALSE(h.valid());
    EXPECT_FALSE(h.valid());
    EXPECT_EQ(h.why_lost(), loss_reason::deadline_passed);
}

}  // namespace
}  // namespace latchkey::test

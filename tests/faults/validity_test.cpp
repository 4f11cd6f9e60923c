#include "client/client_core.hpp"
#include "ensemble/ensemble_access.hpp"
#include "session/connect_string.hpp"
#include "stepped_test.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace latchkey::test {
namespace {

/// A hold is invalid before the servers can grant the lock to anybody else, whatever breaks.
class Validity : public SteppedTest {
protected:
    static constexpr auto timeout = 12s;

    /// Runs until the second participant is granted, and checks at every event that the first one
    /// does not believe any more by then.
    void expect_no_overlap(const hold& first, const attempt& second) {
        const bool granted = ensemble_.run_until([&] { return second.done; }, 120s);
        ASSERT_TRUE(granted);
        EXPECT_TRUE(second.granted.valid());
        EXPECT_FALSE(first.valid());
    }

    client a_ = connected({.session_timeout = timeout});
    client b_ = connected({.session_timeout = timeout});
    mutex first_{a_, "/lock"};
    mutex second_{b_, "/lock"};
};

TEST_F(Validity, LastsAsLongAsServersAnswer) {
    const hold h = held(first_);
    for (int i = 0; i < 60; ++i) {
        ensemble_.run_for(1s);
        ASSERT_TRUE(h.valid()) << i;
        ASSERT_GT(h.valid_until().time_since_epoch() - ensemble_.now(), timeout * 2 / 5) << i;
    }
}

TEST_F(Validity, EndsAtItsDeadlineMoreThanTwoFifthsOfTheTimeoutAfterTheLastAnswer) {
    const hold h = held(first_);
    ensemble_.run_for(30s);
    const auto until = h.valid_until().time_since_epoch();
    EXPECT_GT(until, ensemble_.now() + timeout * 2 / 5);
    EXPECT_LT(until, ensemble_.now() + timeout * 3 / 5);
    ensemble_.black_hole(a_.session_id());
    ASSERT_TRUE(ensemble_.run_until([&] { return !h.valid(); }, 30s));
    EXPECT_EQ(ensemble_.now(), until);
    EXPECT_EQ(h.why_lost(), loss_reason::deadline_passed);
}

TEST_F(Validity, LastsLongerWhenTheTickIsKnown) {
    client c = connected({.session_timeout = timeout, .tick = 2s});
    mutex m(c, "/other");
    const hold h = held(m);
    ensemble_.run_for(30s);
    EXPECT_GT(h.valid_until().time_since_epoch(), ensemble_.now() + timeout * 11 / 20);
}

TEST_F(Validity, BlackHoledHolderIsInvalidBeforeAnotherIsGranted) {
    const hold h = held(first_);
    const auto w = acquire(second_);
    ensemble_.run_for(3s);
    ensemble_.black_hole(a_.session_id());
    expect_no_overlap(h, *w);
    EXPECT_EQ(h.why_lost(), loss_reason::deadline_passed);
}

TEST_F(Validity, HolderOnAnIsolatedFollowerMovesAndKeepsTheHold) {
    const int follower = (ensemble_.leader() + 1) % 3;
    ensemble_.move(a_.session_id(), follower);
    ensemble_.run_for(1s);
    const hold h = held(first_);
    ensemble_.isolate(follower);
    for (int i = 0; i < 300; ++i) {
        ensemble_.run_for(100ms);
        ASSERT_TRUE(h.valid()) << i;
    }
}

TEST_F(Validity, HolderThatOnlySeesAnIsolatedFollowerIsInvalidBeforeAnotherIsGranted) {
    const int follower = (ensemble_.leader() + 1) % 3;
    ensemble_.move(b_.session_id(), ensemble_.leader());
    ensemble_.move(a_.session_id(), follower);
    ensemble_.run_for(1s);
    const hold h = held(first_);
    const auto w = acquire(second_);
    ensemble_.run_for(1s);
    ensemble_.confine(a_.session_id(), follower);
    ensemble_.isolate(follower);
    expect_no_overlap(h, *w);
    EXPECT_EQ(h.why_lost(), loss_reason::deadline_passed);
}

TEST_F(Validity, HolderOnADeposedLeaderIsInvalidBeforeAnotherIsGranted) {
    const int old_leader = ensemble_.leader();
    ensemble_.move(a_.session_id(), old_leader);
    ensemble_.move(b_.session_id(), (old_leader + 1) % 3);
    ensemble_.run_for(1s);
    const hold h = held(first_);
    const auto w = acquire(second_);
    ensemble_.run_for(1s);
    ensemble_.confine(a_.session_id(), old_leader);
    ensemble_.isolate(old_leader);
    expect_no_overlap(h, *w);
    EXPECT_EQ(h.why_lost(), loss_reason::deadline_passed);
}

// The old leader answers connects by itself, until it notices that nobody follows it.
TEST_F(Validity, ConnectToADeposedLeaderDoesNotProlongAHold) {
    const int old_leader = ensemble_.leader();
    ensemble_.move(a_.session_id(), (old_leader + 1) % 3);
    ensemble_.run_for(1s);
    const hold h = held(first_);
    ensemble_.run_for(30s);
    ensemble_.isolate(old_leader);
    ensemble_.confine(a_.session_id(), old_leader);
    const auto until = h.valid_until();
    ASSERT_TRUE(
        ensemble_.run_until([&] { return a_.state() == connection_state::reconnected; }, 2s));
    EXPECT_EQ(h.valid_until(), until);
    ensemble_.run_for(2s);
    EXPECT_EQ(h.valid_until(), until);
}

/// Every clock is off by one percent, as max_clock_drift allows: the holder's is slow, and those of
/// the servers are fast.
TEST_F(Validity, HolderWithASlowClockIsInvalidBeforeAnotherIsGranted) {
    ensemble_.set_clock_rate(a_.session_id(), 0.99);
    for (int i = 0; i < 3; ++i) {
        ensemble_.set_server_clock_rate(i, 1.01);
    }
    const hold h = held(first_);
    const auto w = acquire(second_);
    ensemble_.run_for(30s);
    const auto cut = ensemble_.now();
    ensemble_.black_hole(a_.session_id());
    ASSERT_TRUE(ensemble_.run_until([&] { return !h.valid(); }, 30s));
    EXPECT_FALSE(w->done);
    EXPECT_GT(ensemble_.now(), cut + timeout * 2 / 5);
    expect_no_overlap(h, *w);
}

class ShortSession : public SteppedTest {
protected:
    static constexpr auto timeout = 1200ms;

    ShortSession() : SteppedTest(quick()) {}

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
    const int follower = (ensemble_.leader() + 1) % 3;
    ensemble_.move(a.session_id(), ensemble_.leader());
    ensemble_.move(b.session_id(), follower);
    ensemble_.run_for(1s);
    for (auto late = 40ms; late <= 120ms; late += 20ms) {
        hold h = held(first);
        const auto w = acquire(second);
        ensemble_.run_for(2s);
        ensemble_.lag(follower, late);
        ensemble_.run_for(3s + late);
        h.release();
        const auto released = ensemble_.now();
        ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 20s)) << late.count() << " ms";
        EXPECT_LT(w->at - released, timeout) << late.count() << " ms";
        ensemble_.lag(follower, 0ms);
        w->granted.release();
    }
}

TEST_F(Validity, PausedHolderWakesUpInvalid) {
    const hold h = held(first_);
    const auto w = acquire(second_);
    ensemble_.run_for(1s);
    const std::int64_t session = a_.session_id();
    ensemble_.pause(session);
    expect_granted(w);
    // The first thing it sees is that it lost: no event was delivered to it yet.
    EXPECT_FALSE(h.valid());
    EXPECT_EQ(h.why_lost(), loss_reason::deadline_passed);
    ensemble_.resume(session);
    ensemble_.run_for(5s);
    EXPECT_TRUE(h.lost().stop_requested());
    EXPECT_GT(w->granted.token(), h.token());
}

TEST_F(Validity, HolderThatIsStoppedForAThirdOfItsTimeoutKeepsTheHold) {
    const std::int64_t session = a_.session_id();
    for (auto phase = 0ms; phase < 2000ms; phase += 100ms) {
        const hold h = held(first_);
        ensemble_.run_for(10s + phase);
        ensemble_.pause(session);
        ensemble_.run_for(timeout / 3);
        ensemble_.resume(session);
        ensemble_.run_for(20s);
        ASSERT_TRUE(h.valid()) << phase.count() << " ms";
    }
}

TEST_F(Validity, PausedHolderThatWakesUpCommitsNothing) {
    hold h = held(first_);
    const auto w = acquire(second_);
    ensemble_.run_for(1s);
    const std::int64_t session = a_.session_id();
    ensemble_.pause(session);
    ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 60s));
    ensemble_.resume(session);
    std::error_code ec;
    h.async_transact({operation::create("/effect")},
                     [&](std::error_code e, const auto&) { ec = e; });
    ASSERT_TRUE(ensemble_.run_until([&] { return static_cast<bool>(ec); }, 30s));
    EXPECT_EQ(ec, errc::hold_lost);
    EXPECT_FALSE(ensemble_.exists("/effect"));
}

TEST_F(Validity, LostByTheDeadlineStaysLostWhenTheSessionTurnsOutToLive) {
    hold h = held(first_);
    ensemble_.run_for(1s);
    // Without a quorum nobody can end the session either.
    for (int i = 0; i < 3; ++i) {
        ensemble_.pause_server(i);
    }
    ASSERT_TRUE(ensemble_.run_until([&] { return h.lost().stop_requested(); }, 60s));
    EXPECT_EQ(h.why_lost(), loss_reason::deadline_passed);
    const std::string path = h.path();
    for (int i = 0; i < 3; ++i) {
        ensemble_.resume_server(i);
    }
    ensemble_.run_for(10s);
    EXPECT_FALSE(h.valid());
    // The znode goes when the work has drained, or with the session.
    h.release();
    ensemble_.run_for(5s);
    EXPECT_FALSE(ensemble_.exists(path));
    EXPECT_TRUE(held(second_).valid());
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
        EXPECT_TRUE(ensemble_.run_until([&] { return h.lost().stop_requested(); }, 30s));
        ensemble_.resume(c.session_id());
        EXPECT_TRUE(
            ensemble_.run_until([&] { return c.state() == connection_state::reconnected; }, 30s));
        ensemble_.run_for(1s);
    };
    EXPECT_FALSE(h.valid());
    EXPECT_FALSE(h.valid());
    EXPECT_EQ(h.why_lost(), loss_reason::deadline_passed);
}

TEST_F(Validity, RestartOfEachServerInTurnKeepsTheHold) {
    const hold h = held(first_);
    for (int i = 0; i < 3; ++i) {
        ensemble_.stop_server(i);
        ensemble_.run_for(2s);
        ensemble_.start_server(i);
        ensemble_.run_for(6s);
        ASSERT_TRUE(h.valid()) << i;
    }
}

TEST_F(Validity, WatchEventThatWasBufferedThroughAPauseIsNoGrant) {
    hold h = held(first_);
    const auto w = acquire(second_);
    ensemble_.run_for(1s);
    const std::int64_t session = b_.session_id();
    h.release();
    ensemble_.run_for(1ms);  // the event is on its way
    ensemble_.pause(session);
    client c = connected();
    mutex third(c, "/lock");
    const auto w3 = acquire(third);
    ASSERT_TRUE(ensemble_.run_until([&] { return w3->done; }, 60s));
    ensemble_.resume(session);
    ensemble_.run_for(5s);
    EXPECT_TRUE(w3->granted.valid());
    EXPECT_FALSE(w->done && w->granted.valid());
    w3->granted.release();
    expect_granted(w);
}

TEST_F(Validity, SuspendedShortlyKeepsTheHold) {
    const hold h = held(first_);
    ensemble_.run_for(1s);
    ensemble_.suspend(a_.session_id());
    ensemble_.run_for(4s);
    EXPECT_EQ(a_.state(), connection_state::suspended);
    EXPECT_TRUE(h.valid());
    ensemble_.resume(a_.session_id());
    ensemble_.run_for(10s);
    EXPECT_TRUE(h.valid());
    EXPECT_EQ(a_.state(), connection_state::reconnected);
}

}  // namespace
}  // namespace latchkey::test

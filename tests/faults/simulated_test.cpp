#include "stepped_test.hpp"

#include <optional>
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
    ensemble_.refuse_next(ensemble::request_kind::remove, -127, session, 1000);
    ensemble_.resume(session);
    ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 10s));
    EXPECT_TRUE(is_empty(a->granted));
    EXPECT_LE(a->at - cancelled, 1s);
}

TEST_F(Simulated, CreateOfTheDirectoryThatIsThrottledIsTriedAgain) {
    client c = connected();
    mutex m(c, "/a/lock");
    ensemble_.refuse_next(ensemble::request_kind::create, -127);
    EXPECT_TRUE(held(m));
}

/// Numbers begin again with a new directory: the number of a place that is gone says nothing about
/// who has it now.
TEST_F(Simulated, WaiterWhoseDirectoryWasReplacedJoinsAnew) {
    client a = connected();
    client b = connected();
    client c = connected();
    mutex first(a, "/lock");
    mutex second(b, "/lock");
    mutex third(c, "/lock");
    hold h = held(first);
    const auto waiting = acquire(second);
    settle();
    ensemble_.suspend(b.session_id());
    for (const std::string& name : ensemble_.children("/lock")) {
        ensemble_.remove("/lock/" + name);
    }
    ensemble_.remove("/lock");
    ensemble_.create("/lock");
    ensemble_.create("/lock/somebody");
    hold next = held(third);
    EXPECT_TRUE(next.path().ends_with("0000000001")) << next.path();
    ensemble_.resume(b.session_id());
    ensemble_.run_for(2s);
    EXPECT_FALSE(waiting->done) << waiting->ec.message();
    next.release();
    expect_granted(waiting, 10s);
}

/// How long two holds believed at once, when the network held back all that an idle client sent,
/// let it through just before the servers would have given up the connection, and then cut off the
/// client with its follower; none if the first one was not granted before that.
std::optional<ensemble::duration> overlap_after_a_stall(ensemble::duration phase,
                                                        ensemble::duration stall) {
    ensemble::options o;
    o.mode = ensemble::mode::stepped;
    o.one_way = 1ms;
    ensemble e(o);
    const auto connect = [&](int server) {
        client c = e.connect({.session_timeout = 12s});
        EXPECT_TRUE(e.run_until([&] { return c.session_id() != 0; }, 10s));
        e.move(c.session_id(), server);
        return c;
    };
    const int follower = (e.leader() + 1) % 3;
    client cut_off = connect(follower);
    client other = connect(e.leader());
    e.run_for(20s + phase);
    mutex mine(cut_off, "/lock");
    mutex theirs(other, "/lock");
    hold first;
    hold second;
    e.black_hole(cut_off.session_id());
    e.run_for(stall);
    e.resume(cut_off.session_id());
    mine.async_acquire({}, [&](std::error_code, hold h) { first = std::move(h); });
    if (!e.run_until([&] { return static_cast<bool>(first); }, 50ms)) {
        return std::nullopt;
    }
    e.isolate(follower);
    e.suspend(cut_off.session_id());
    theirs.async_acquire({}, [&](std::error_code, hold h) { second = std::move(h); });
    EXPECT_TRUE(e.run_until([&] { return static_cast<bool>(second); }, 60s));
    const auto granted = e.now();
    EXPECT_TRUE(e.run_until([&] { return !first.valid(); }, 60s));
    return e.now() - granted;
}

TEST(SimulatedStall, WhatTheNetworkHeldBackIsNotBelievedAsIfItHadArrivedInTime) {
    int granted = 0;
    for (auto stall = 500ms; stall < 8000ms; stall += 500ms) {
        for (auto phase = 0ms; phase < 4000ms; phase += 200ms) {
            const auto overlap = overlap_after_a_stall(phase, stall);
            granted += overlap ? 1 : 0;
            ASSERT_EQ(overlap.value_or(0ns), 0ns)
                << "stall " << stall.count() << " ms, phase " << phase.count() << " ms";
        }
    }
    EXPECT_GE(granted, 100) << "of 300";
}

}  // namespace
}  // namespace latchkey::test

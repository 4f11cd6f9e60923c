// How long two holds of one lock believe in themselves at once, when the servers have heard nothing
// of the first one's client for a while, and it is cut off with its follower right after the
// acquire.
#include "stepped_test.hpp"

#include <optional>
#include <string>

namespace latchkey::test {
namespace {

/// What the servers have not heard of a client.
struct quiet_client {
    std::chrono::milliseconds timeout;  ///< of the sessions
    ensemble::duration idle;            ///< nothing was asked for that long
    ensemble::duration stopped{};       ///< and then the client did not run
    ensemble::duration held_back{};     ///< and then the network delivered nothing
    ensemble::duration election{};      ///< shifts the leader's pings against its clock, if any
    ensemble::duration granted_within = 10s;
};

/// None if the first hold was not granted in time.
std::optional<ensemble::duration> overlap(const quiet_client& quiet) {
    ensemble::options o;
    o.mode = ensemble::mode::stepped;
    o.one_way = 1ms;
    o.seed = 7;
    ensemble e(o);
    if (quiet.election > 0ns) {
        const int first_leader = e.leader();
        e.run_for(quiet.election);
        e.stop_server(first_leader);
        e.run_for(3s);
        e.start_server(first_leader);
        e.run_for(2s);
    }
    const auto connect = [&](int server) {
        client c = e.connect({.session_timeout = quiet.timeout});
        EXPECT_TRUE(e.run_until([&] { return c.session_id() != 0; }, 10s));
        e.move(c.session_id(), server);
        return c;
    };
    const int follower = (e.leader() + 1) % 3;
    client cut_off = connect(follower);
    client other = connect(e.leader());
    e.run_for(quiet.idle);
    if (quiet.stopped > 0ns) {
        e.pause(cut_off.session_id());
        e.run_for(quiet.stopped);
    }
    if (quiet.held_back > 0ns) {
        e.black_hole(cut_off.session_id());
        e.run_for(quiet.held_back);
        e.resume(cut_off.session_id());
    }
    mutex mine(cut_off, "/lock");
    mutex theirs(other, "/lock");
    hold first;
    hold second;
    mine.async_acquire({}, [&](std::error_code, hold h) { first = std::move(h); });
    e.resume(cut_off.session_id());
    if (!e.run_until([&] { return static_cast<bool>(first); }, quiet.granted_within)) {
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

/// The servers' shortest default timeout, two ticks: the leader may not have heard of an idle
/// client for half of it, because the follower tells only every half tick whom it heard from.
constexpr auto shortest = 4s;

TEST(FirstWriteAfterIdleness, IsBelievedNoLongerThanTheLeaderKnowsOfTheSession) {
    for (auto election = 100ms; election <= 2000ms; election += 300ms) {
        for (auto phase = 0ms; phase < 2000ms; phase += 20ms) {
            ASSERT_EQ(overlap({.timeout = shortest, .idle = 12s + phase, .election = election}),
                      0ns)
                << "election " << election.count() << " ms, phase " << phase.count() << " ms";
        }
    }
}

TEST(FirstWriteAfterAStandstill, IsBelievedNoLongerThanTheLeaderKnowsOfTheSession) {
    for (auto stopped = 500ms; stopped <= 4500ms; stopped += 250ms) {
        for (auto phase = 0ms; phase < 2000ms; phase += 130ms) {
            ASSERT_EQ(overlap({.timeout = shortest,
                               .idle = 12s + phase,
                               .stopped = stopped,
                               .election = 700ms}),
                      0ns)
                << "stopped for " << stopped.count() << " ms, phase " << phase.count() << " ms";
        }
    }
}

/// The network let it through just before the servers would have given up the connection.
TEST(SimulatedStall, WhatTheNetworkHeldBackIsNotBelievedAsIfItHadArrivedInTime) {
    int granted = 0;
    for (auto stall = 500ms; stall < 8000ms; stall += 500ms) {
        for (auto phase = 0ms; phase < 4000ms; phase += 200ms) {
            const auto both = overlap(
                {.timeout = 12s, .idle = 20s + phase, .held_back = stall, .granted_within = 50ms});
            granted += both ? 1 : 0;
            ASSERT_EQ(both.value_or(0ns), 0ns)
                << "stall " << stall.count() << " ms, phase " << phase.count() << " ms";
        }
    }
    EXPECT_GE(granted, 100) << "of 300";
}

}  // namespace
}  // namespace latchkey::test

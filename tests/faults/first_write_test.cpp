#include "stepped_test.hpp"

#include <string>

namespace latchkey::test {
namespace {

/// The servers' shortest default timeout, two ticks: the leader may not have heard of an idle
/// client for half of it, because the follower tells only every half tick whom it heard from.
constexpr auto shortest = 4s;

/// How long two holds of one lock believed in themselves at once, when the first one's client was
/// idle, and was stopped for some time, and it and its follower are cut off right after the
/// acquire. `election` and `phase` shift the leader's pings against its clock, and the acquire
/// against both.
ensemble::duration overlap(ensemble::duration election,
                           ensemble::duration phase,
                           ensemble::duration stopped = {}) {
    ensemble::options o;
    o.mode = ensemble::mode::stepped;
    o.one_way = 1ms;
    o.seed = 7;
    ensemble e(o);
    const int first_leader = e.leader();
    e.run_for(election);
    e.stop_server(first_leader);
    e.run_for(3s);
    e.start_server(first_leader);
    e.run_for(2s);

    const auto connect = [&](int server) {
        client c = e.connect({.session_timeout = shortest});
        EXPECT_TRUE(e.run_until([&] { return c.session_id() != 0; }, 10s));
        e.move(c.session_id(), server);
        return c;
    };
    const int follower = (e.leader() + 1) % 3;
    client cut_off = connect(follower);
    client other = connect(e.leader());
    e.run_for(12s + phase);
    if (stopped > 0ns) {
        e.pause(cut_off.session_id());
        e.run_for(stopped);
    }

    mutex mine(cut_off, "/lock");
    mutex theirs(other, "/lock");
    hold first;
    hold second;
    mine.async_acquire({}, [&](std::error_code, hold h) { first = std::move(h); });
    e.resume(cut_off.session_id());
    EXPECT_TRUE(e.run_until([&] { return static_cast<bool>(first); }, 10s));
    e.isolate(follower);
    e.suspend(cut_off.session_id());
    theirs.async_acquire({}, [&](std::error_code, hold h) { second = std::move(h); });
    EXPECT_TRUE(e.run_until([&] { return static_cast<bool>(second); }, 60s));
    const auto granted = e.now();
    EXPECT_TRUE(e.run_until([&] { return !first.valid(); }, 60s));
    return e.now() - granted;
}

TEST(FirstWriteAfterIdleness, IsBelievedNoLongerThanTheLeaderKnowsOfTheSession) {
    for (auto election = 100ms; election <= 2000ms; election += 300ms) {
        for (auto phase = 0ms; phase < 2000ms; phase += 20ms) {
            ASSERT_EQ(overlap(election, phase), 0ns)
                << "election " << election.count() << " ms, phase " << phase.count() << " ms";
        }
    }
}

TEST(FirstWriteAfterAStandstill, IsBelievedNoLongerThanTheLeaderKnowsOfTheSession) {
    for (auto stopped = 500ms; stopped <= 4500ms; stopped += 250ms) {
        for (auto phase = 0ms; phase < 2000ms; phase += 130ms) {
            ASSERT_EQ(overlap(700ms, phase, stopped), 0ns)
                << "stopped for " << stopped.count() << " ms, phase " << phase.count() << " ms";
        }
    }
}

}  // namespace
}  // namespace latchkey::test

#include "client/validity.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>

#include <gtest/gtest.h>

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using time_point = validity::time_point;

constexpr time_point nothing = time_point::min();

/// Clocks that agree, so that times are exact but for the nanosecond that is rounded up.
constexpr validity_assumptions exact{.tick = 0s, .drift = 0};

time_point at(nanoseconds t) {
    return time_point(t);
}

/// A session of 16 s, connected at 0 s within 10 ms: a quarter is 4 s, a sixteenth 1 s.
class Validity : public ::testing::Test {
protected:
    static constexpr nanoseconds timeout = 16s;
    static constexpr nanoseconds round_trip = 10ms;

    Validity() { v.connected(at(0s), at(round_trip), timeout); }

    void write(nanoseconds sent, nanoseconds took = round_trip) {
        v.answered(v.submitted(at(sent)), at(sent + took), true);
    }

    void read(nanoseconds sent, nanoseconds took = round_trip) {
        v.answered(v.submitted(at(sent)), at(sent + took), false);
    }

    /// What heartbeats do.
    void write_steadily(nanoseconds from, nanoseconds until) {
        for (; from <= until; from += timeout / 7) {
            write(from);
        }
    }

    validity v{exact};
};

TEST(ValidityAssumptions, TakeTheTickForHalfTheTimeoutUnlessItIsGiven) {
    static_assert(exact.report_period(16s) == 4s + 1ns);
    static_assert(validity_assumptions{.tick = 2s, .drift = 0}.report_period(16s) == 1s + 1ns);
    static_assert(validity_assumptions{.tick = 20s, .drift = 0}.report_period(16s) == 10s + 1ns);
}

TEST(ValidityAssumptions, CoverTwoClocksThatAreOffInOppositeDirections) {
    // Ours shows 0.99 s in each second and the leader's 1.01 s: its 101 s are 99 s of ours.
    constexpr validity_assumptions a{.tick = 198s, .drift = 0.01};
    EXPECT_LE(a.kept(101s), 99s);
    EXPECT_GE(a.kept(101s), 99s - 2ns);
    // And the other way round.
    EXPECT_GE(a.report_period(1000s), 101s);
    EXPECT_LE(a.report_period(1000s), 101s + 2ns);
}

TEST(ValidityAssumptions, HaveToLeaveEnoughOfTheTimeout) {
    EXPECT_TRUE(exact.suffice(1s));
    EXPECT_TRUE((validity_assumptions{.tick = 0s, .drift = 0.1}.suffice(1s)));
    EXPECT_FALSE((validity_assumptions{.tick = 0s, .drift = 0.2}.suffice(1s)));
    EXPECT_TRUE((validity_assumptions{.tick = 1s, .drift = 0.01}.suffice(1s)));
    EXPECT_FALSE((validity_assumptions{.tick = 1300ms, .drift = 0}.suffice(1s)));
}

TEST_F(Validity, BelievesNothingBeforeAWriteIsAnswered) {
    EXPECT_EQ(v.deadline(), nothing);
    read(1s);
    read(2s);
    EXPECT_EQ(v.deadline(), nothing);
    EXPECT_EQ(v.newest_write(), nothing);
}

TEST_F(Validity, CountsFromTheBeginningOfTheConnectOnceAWriteIsAnsweredBehindIt) {
    write(1s);
    EXPECT_EQ(v.deadline(), at(16s));
    EXPECT_EQ(v.newest_write(), at(1s));
}

TEST_F(Validity, CountsFromTheConnectAlsoForAWriteThatWaitedForIt) {
    validity waiting{exact};
    const auto early = waiting.submitted(at(0s));
    waiting.connected(at(5s), at(5010ms), timeout);
    waiting.answered(early, at(5020ms), true);
    EXPECT_EQ(waiting.deadline(), at(21s));
}

TEST_F(Validity, CountsFromAContactThatWasAnsweredAReportPeriodBeforeTheFirstOfTwoWrites) {
    read(10s);
    write(15s, 1s);  // late: believed with the next one only
    EXPECT_EQ(v.deadline(), at(16s)) << "the connect";
    write(16s, 1s);
    EXPECT_EQ(v.deadline(), at(26s)) << "the read";
}

TEST_F(Validity, DoesNotCountFromAContactThatMayNotHaveBeenReported) {
    read(10s);
    write(14010ms, 1s);
    write(16s, 1s);
    EXPECT_EQ(v.deadline(), at(16s)) << "it was answered 4 s before, and not a nanosecond more";
    read(17s);
    write(21010ms + 1ns, 1s);
    write(23s, 1s);
    EXPECT_EQ(v.deadline(), at(33s));
}

TEST_F(Validity, CountsFromWhenAContactWasSentHoweverLateItWasAnswered) {
    read(5s, 6s);
    write(16s, 1s);
    write(17s, 1s);
    EXPECT_EQ(v.deadline(), at(21s));
}

TEST_F(Validity, NeedsASecondWriteThatWasSentAfterTheAnswerToTheFirst) {
    read(10s);
    const auto first = v.submitted(at(15s));
    const auto second = v.submitted(at(15500ms));
    v.answered(first, at(16s), true);
    v.answered(second, at(16s), true);
    EXPECT_EQ(v.deadline(), at(16s)) << "both were on their way at once";
    const auto third = v.submitted(at(16s));
    v.answered(third, at(17s), true);
    EXPECT_EQ(v.deadline(), at(26s)) << "at the same time as the answer, and after it";
}

TEST_F(Validity, LastsForMoreThanHalfTheTimeoutAfterAHeartbeat) {
    write_steadily(0s, 160s);
    const nanoseconds last = v.newest_write().time_since_epoch();
    EXPECT_EQ(v.deadline(), at(last + timeout - timeout / 7 * 3));
}

TEST_F(Validity, LastsLongerWhenTheTickIsKnownToBeShort) {
    validity known{{.tick = 3200ms, .drift = 0}};  // a fifth
    known.connected(at(0s), at(10ms), timeout);
    nanoseconds sent = 0s;
    for (int i = 0; i < 20; ++i) {
        sent += timeout / 7;
        known.answered(known.submitted(at(sent)), at(sent + round_trip), true);
    }
    EXPECT_EQ(known.deadline(), at(sent + timeout - timeout / 7 * 2));
}

TEST_F(Validity, BelievesAPromptWriteUntilAHeartbeatCanFollow) {
    read(10s);
    write(20s);
    EXPECT_EQ(v.deadline(), at(23s)) << "an eighth and a sixteenth";
    write(21s);
    EXPECT_EQ(v.deadline(), at(26s)) << "the chain, from the read";
}

TEST_F(Validity, BelievesAPromptWriteNoLongerThanItsContacts) {
    read(4500ms);
    write(19s);
    EXPECT_EQ(v.deadline(), at(20500ms));
}

TEST_F(Validity, TakesAWriteForPromptThatTookASixtyFourthLongerThanTheQuickest) {
    read(10s);
    write(20s, round_trip + timeout / 64 + 1ns);
    EXPECT_EQ(v.deadline(), at(16s));
    read(30s);
    write(40s, round_trip + timeout / 64);
    EXPECT_EQ(v.deadline(), at(43s));
}

// A leader that stood still answers what waited for it, and ends sessions that are overdue next;
// the process had a standstill of its own in between. Until 2026 the write was believed for 0.9 of
// the timeout after the first one: 110.8 s for a timeout of 12 s.
TEST_F(Validity, OfALateWriteAfterAStandstillOfBothSidesIsNotBelieved) {
    validity both{exact};
    both.connected(at(40s), at(40010ms), 12s);
    const auto ask = [&](nanoseconds sent, nanoseconds answered, bool is_write) {
        both.answered(both.submitted(at(sent)), at(answered), is_write);
    };
    ask(97s, 97001ms, false);
    ask(100s, 100001ms, true);
    ask(103500ms, 103501ms, false);
    ask(106600ms, 109s, true);
    EXPECT_LE(both.deadline(), at(109s));
}

// Three half ticks do not fit into half of 5.2 s, if the tick is 2 s: the margin was too small for
// a first write, when the contact before it was late by a retransmission.
TEST_F(Validity, OfAFirstWriteIsNotBelievedBeyondAContactThatWasNotReported) {
    validity band{{.tick = 2s, .drift = 0}};
    band.connected(at(50s), at(50001ms), 5200ms);
    const auto ask = [&](nanoseconds sent, bool is_write) {
        band.answered(band.submitted(at(sent)), at(sent), is_write);
    };
    ask(100s, true);       // reported at 100 s
    ask(102003ms, false);  // to be reported at 103 s, when the follower is cut off
    ask(102990ms, true);
    EXPECT_LE(band.deadline(), at(105200ms));
}

TEST_F(Validity, BeginsAnewWithAConnectionAndKeepsItsDeadline) {
    write_steadily(0s, 32s);
    read(36s);
    const time_point before = v.deadline();
    v.connected(at(38s), at(38010ms), timeout);
    EXPECT_EQ(v.deadline(), before);
    read(39s);
    EXPECT_EQ(v.deadline(), before) << "a follower that was left behind answers it as well";
    write(40s, 2s);
    EXPECT_EQ(v.deadline(), at(54s)) << "from the connect";
    write(42500ms, 2s);
    EXPECT_EQ(v.deadline(), at(54s)) << "what the other follower heard at 36 s may be lost";
    write(45s, 2s);
    write(47s, 2s);
    EXPECT_EQ(v.deadline(), at(55s)) << "the read at 39 s";
}

TEST_F(Validity, AWriteOfAnEarlierConnectionIsNotTheFirstOfTwo) {
    read(5s);
    const auto kept_back = v.submitted(at(10s));
    v.connected(at(11s), at(11010ms), timeout);
    v.answered(kept_back, at(12s), true);
    EXPECT_EQ(v.deadline(), at(27s)) << "from the connect, which the leader was asked about";
}

TEST_F(Validity, TakesTheSmallestTimeoutEverGranted) {
    write_steadily(0s, 32s);
    v.connected(at(33s), at(33010ms), 8s);
    EXPECT_EQ(v.timeout(), 8s);
    EXPECT_EQ(v.deadline(), at(41s)) << "the leader counts the shorter one from the connect";
    v.connected(at(34s), at(34010ms), 20s);
    EXPECT_EQ(v.timeout(), 8s);
    write(35s);
    EXPECT_EQ(v.deadline(), at(42s));
}

TEST_F(Validity, KeepsNoMoreContactsThanItCanUse) {
    std::size_t most = 0;
    for (nanoseconds now = 1s; now < 20s; now += 200us) {
        read(now, 50us);
        most = std::max(most, v.logged_contacts());
    }
    EXPECT_LE(most, 20U);
    write(20s, 1s);
    write(21s, 1s);
    // Of what was answered by 16 s the newest, within an eighth of a report period.
    EXPECT_GT(v.deadline(), at(16s - timeout / 4 / 8 + timeout - 1ms));
    EXPECT_LE(v.deadline(), at(16s + timeout));
}

TEST_F(Validity, KeepsTheContactOfAnIdleClientHoweverLongItIsIdle) {
    for (nanoseconds now = 5s; now < 500s; now += 5s) {
        read(now);
        ASSERT_LE(v.logged_contacts(), 3U);
    }
    write(499s, 1s);
    write(500s, 1s);
    EXPECT_EQ(v.deadline(), at(490s + timeout)) << "the one at 495 s was answered too late";
}

TEST_F(Validity, IsNotSeenToEndByOtherThreadsWhileAShorterTimeoutIsTaken) {
    write_steadily(0s, 32s);
    std::atomic<bool> reading{false};
    std::atomic<bool> over{false};
    std::atomic<bool> seen_to_end{false};
    std::thread reader([&] {
        while (!over) {
            reading = true;
            if (v.deadline() == nothing) {
                seen_to_end = true;
            }
        }
    });
    while (!reading) {
        std::this_thread::yield();
    }
    for (int i = 1; i <= 100'000; ++i) {
        v.connected(at(33s), at(33s), timeout - std::chrono::microseconds(i));
    }
    over = true;
    reader.join();
    EXPECT_FALSE(seen_to_end);
}

TEST_F(Validity, EndsForGood) {
    write(1s);
    EXPECT_EQ(v.why_passed(), loss_reason::deadline_passed);
    v.end(loss_reason::session_expired);
    EXPECT_EQ(v.deadline(), nothing);
    EXPECT_EQ(v.why_passed(), loss_reason::session_expired);
    write(2s);
    v.connected(at(3s), at(3s), 5s);
    write(4s);
    EXPECT_EQ(v.deadline(), nothing);
}

}  // namespace
}  // namespace latchkey

#include "validity/validity.hpp"

#include "story.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
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

    void ask(nanoseconds sent, nanoseconds took, bool is_write) {
        v.answered(v.submitted(at(sent)), at(sent + took), is_write);
    }

    void write(nanoseconds sent, nanoseconds took = round_trip) { ask(sent, took, true); }

    void read(nanoseconds sent, nanoseconds took = round_trip) { ask(sent, took, false); }

    /// What heartbeats do.
    void write_steadily(nanoseconds until) {
        for (nanoseconds sent = 0s; sent <= until; sent += timeout / 7) {
            write(sent);
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

struct validity_story {
    const char* name;
    /// "read 10" and "write 10 1" are sent at 10 s and take a round trip, or a second. "connected
    /// 38" takes a round trip, too. "begin 2" is another client, with a tick of 2 s. After "is 26",
    /// it is believed until 26 s.
    const char* story;
};

class ValidityStory : public Validity, public ::testing::WithParamInterface<validity_story> {
protected:
    static nanoseconds took(const test::story_step& s) {
        return s.size() > 2 ? test::seconds_in(s[2]) : round_trip;
    }

    const test::story_verbs verbs{
        {"begin",
         [this](const auto& s) {
             std::destroy_at(&v);
             std::construct_at(&v, validity_assumptions{test::seconds_in(s[1]), 0});
         }},
        {"read", [this](const auto& s) { read(test::seconds_in(s[1]), took(s)); }},
        {"write", [this](const auto& s) { write(test::seconds_in(s[1]), took(s)); }},
        {"write_steadily_until", [this](const auto& s) { write_steadily(test::seconds_in(s[1])); }},
        {"connected",
         [this](const auto& s) {
             const nanoseconds begun = test::seconds_in(s[1]);
             v.connected(at(begun),
                         at(begun + round_trip),
                         s.size() > 2 ? test::seconds_in(s[2]) : timeout);
         }},
        {"submit", [this](const auto& s) { kept_back = v.submitted(at(test::seconds_in(s[1]))); }},
        {"answer_it",
         [this](const auto& s) { v.answered(kept_back, at(test::seconds_in(s[1])), true); }},
        {"remember", [this](const auto&) { before = v.deadline(); }},
        {"is_as_before", [this](const auto&) { EXPECT_EQ(v.deadline(), before); }},
        {"is_nothing", [this](const auto&) { EXPECT_EQ(v.deadline(), nothing); }},
        {"is",
         [this](const auto& s) { EXPECT_EQ(v.deadline(), at(test::seconds_in(s[1]))) << s[1]; }},
        {"is_at_most",
         [this](const auto& s) { EXPECT_LE(v.deadline(), at(test::seconds_in(s[1]))); }}};
    validity::submission kept_back{};
    time_point before;
};

TEST_P(ValidityStory, IsAsItSays) {
    test::play(GetParam().story, verbs);
}

const validity_story validity_stories[] = {
    {"BelievesNothingBeforeAWriteIsAnswered", "is_nothing, read 1, read 2, is_nothing"},
    {"CountsFromTheBeginningOfTheConnectOnceAWriteIsAnsweredBehindIt", "write 1, is 16"},
    {"CountsFromTheConnectAlsoForAWriteThatWaitedForIt",
     "begin 0, submit 0, connected 5, answer_it 5.02, is 21"},
    {"CountsFromAContactThatWasAnsweredAReportPeriodBeforeTheFirstOfTwoWrites",
     // The first one is late, so it is believed with the next one only. Until then the connect
     // counts, and then the read.
     "read 10, write 15 1, is 16, write 16 1, is 26"},
    {"DoesNotCountFromAContactThatMayNotHaveBeenReported",
     // It was answered 4 s before, and not a nanosecond more.
     "read 10, write 14.01 1, write 16 1, is 16, "
     "read 17, write 21.010000001 1, write 23 1, is 33"},
    {"CountsFromWhenAContactWasSentHoweverLateItWasAnswered",
     "read 5 6, write 16 1, write 17 1, is 21"},
    {"NeedsASecondWriteThatWasSentAfterTheAnswerToTheFirst",
     // Two that were on their way at once are no chain. The third is sent at the time of the
     // answer.
     "read 10, submit 15.5, write 15 1, answer_it 16, is 16, write 16 1, is 26"},
    {"BelievesAPromptWriteUntilAHeartbeatCanFollow",
     // An eighth and a sixteenth; and then the chain, from the read.
     "read 10, write 20, is 23, write 21, is 26"},
    {"BelievesAPromptWriteNoLongerThanItsContacts", "read 4.5, write 19, is 20.5"},
    {"TakesAWriteForPromptThatTookASixtyFourthLongerThanTheQuickest",
     "read 10, write 20 0.260000001, is 16, read 30, write 40 0.26, is 43"},
    {"DoesNotBelieveALateWriteAfterAStandstillOfBothSides",
     // A leader that stood still answers what waited for it, and ends sessions that are overdue
     // next; the process had a standstill of its own in between. Until 2026 the write was believed
     // for 0.9 of the timeout after the first one: 110.8 s for a timeout of 12 s.
     "begin 0, connected 40 12, read 97 0.001, write 100 0.001, read 103.5 0.001, "
     "write 106.6 2.4, is_at_most 109"},
    {"DoesNotBelieveAFirstWriteBeyondAContactThatWasNotReported",
     // Three half ticks do not fit into half of 5.2 s, if the tick is 2 s: the margin was too small
     // for a first write, when the contact before it was late by a retransmission. The first write
     // is reported at 100 s, and the read to be reported at 103 s, when the follower is cut off.
     "begin 2, connected 50 5.2, write 100 0, read 102.003 0, write 102.99 0, is_at_most 105.2"},
    {"BeginsAnewWithAConnectionAndKeepsItsDeadline",
     // A follower that was left behind answers the read at 39 s as well. Then it counts from the
     // connect: what the other follower heard at 36 s may be lost. At last, from the read at 39 s.
     "write_steadily_until 32, read 36, remember, connected 38, is_as_before, read 39, "
     "is_as_before, write 40 2, is 54, write 42.5 2, is 54, write 45 2, write 47 2, is 55"},
    {"DoesNotTakeAWriteOfAnEarlierConnectionForTheFirstOfTwo",
     // It counts from the connect, which the leader was asked about.
     "read 5, submit 10, connected 11, answer_it 12, is 27"},
    {"TakesTheSmallestTimeoutEverGranted",
     // The leader counts the shorter one from the connect.
     "write_steadily_until 32, connected 33 8, is 41, connected 34 20, write 35, is 42"},
};

INSTANTIATE_TEST_SUITE_P(,
                         ValidityStory,
                         ::testing::ValuesIn(validity_stories),
                         [](const auto& tested) { return tested.param.name; });

TEST_F(Validity, KnowsItsNewestWriteAndItsTimeout) {
    read(1s);
    EXPECT_EQ(v.newest_write(), nothing);
    write(2s);
    EXPECT_EQ(v.newest_write(), at(2s));
    for (const nanoseconds granted : {8s, 20s}) {
        v.connected(at(3s), at(3s), granted);
        EXPECT_EQ(v.timeout(), 8s) << "the smallest";
    }
}

TEST_F(Validity, LastsForMoreThanHalfTheTimeoutAfterAHeartbeat) {
    write_steadily(160s);
    const nanoseconds last = v.newest_write().time_since_epoch();
    EXPECT_EQ(v.deadline(), at(last + timeout - timeout / 7 * 3));
}

TEST_F(Validity, LastsLongerWhenTheTickIsKnownToBeShort) {
    std::destroy_at(&v);
    std::construct_at(&v, validity_assumptions{.tick = 3200ms, .drift = 0});  // a fifth
    v.connected(at(0s), at(round_trip), timeout);
    write_steadily(45s);
    const nanoseconds last = v.newest_write().time_since_epoch();
    EXPECT_EQ(v.deadline(), at(last + timeout - timeout / 7 * 2));
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
    write_steadily(32s);
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

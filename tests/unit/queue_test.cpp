// Which of the participants of a queue blocks which.

#include "leader/leader_candidate.hpp"
#include "queue/queue_order.hpp"
#include "queue_claims.hpp"
#include "queue_names.hpp"
#include "story.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using enum queue_rule;
using answer = queue_verdict::answer;

const queue_markers& markers_for(const std::string& own) {
    return own.starts_with('@')                               ? latch_names
           : own.find_first_of("rwW") == 0 && own.size() <= 3 ? read_write_names
                                                              : lock_names;
}

/// "waits for c4, 2 ahead", and "is next behind c4" for one that is granted when c4 is gone.
std::string verdict_text(const queue_verdict& v, const names& briefs, bool of_any) {
    const auto named = std::find_if(
        briefs.begin(), briefs.end(), [&](const auto& b) { return written_out(b) == v.blocker; });
    const std::string by = of_any ? "any" : named == briefs.end() ? v.blocker : *named;
    const std::string delay = v.delay.count() > 0 ? std::to_string(v.delay.count()) + " ms " : "";
    switch (v.what) {
        case answer::acquired:
            EXPECT_EQ(v.ahead, 0U);
            EXPECT_EQ(v.blocker, "");
            return "is granted";
        case answer::wait:
            EXPECT_TRUE(!v.grants_when_gone || v.ahead == 1);
            return v.grants_when_gone
                       ? "is next behind " + by
                       : "waits " + delay + "for " + by + ", " + std::to_string(v.ahead) + " ahead";
        case answer::gone:
            EXPECT_EQ(v.ahead, 0U);
            EXPECT_EQ(v.blocker, "");
            return "is gone";
        case answer::exhausted:
            return "exhausted by " + by;
        case answer::malformed:
            return "malformed by " + by;
    }
    return {};
}

struct queue_case {
    const char* claim;
    std::string queue;
    std::string own;
    const char* verdict;  ///< "exhausted by any": which one depends on the order
    queue_rule rule = everybody;
};

class Queue : public ::testing::TestWithParam<queue_case> {};

/// In whatever order the servers list the names.
TEST_P(Queue, Decides) {
    const queue_case& c = GetParam();
    auto briefs = words_of(c.queue);
    std::sort(briefs.begin(), briefs.end());
    do {
        names list;
        std::transform(briefs.begin(), briefs.end(), std::back_inserter(list), written_out);
        const auto v = decide(list, written_out(c.own), markers_for(c.own), c.rule);
        const bool of_any = std::string(c.verdict).find(" any") != std::string::npos;
        ASSERT_EQ(verdict_text(v, briefs, of_any), c.verdict)
            << c.own << " in " << ::testing::PrintToString(briefs);
    } while (std::next_permutation(briefs.begin(), briefs.end()));
}

const queue_case queue_cases[] = {
    {"GrantsTheOnlyOne", "o5", "o5", "is granted"},
    // By name, "_c_0c5b..." sorts before "_c_b7f3...".
    {"OrdersByNumberNotByName", "c4 o3", "o3", "is granted"},
    {"OrdersByNumberNotByNameForTheLast", "o10 c4 o3", "o10", "waits for c4, 2 ahead"},
    {"WaitsForTheNearestAheadOnly", "c7 g99 c101 o100 c9", "o100", "waits for g99, 3 ahead"},
    {"IgnoresForeignNames", "0000000000 aaa locks x-1f-0000000000 o1", "o1", "is granted"},
    {"MissesTheOwnZnodeInNothing", "", "o5", "is gone"},
    {"MissesTheOwnZnodeBehindOthers", "c4", "o5", "is gone"},
    {"MissesTheOwnZnodeBeforeOthers", "c6", "o5", "is gone"},
    {"CountsALateCreateOfTheOwnAttempt", "o3 o5", "o5", "is next behind o3"},

    {"TrustsTheLastNumber", "o2146435071", "o2146435071", "is granted"},
    {"TrustsNoOwnNumberBehindIt", "o2146435072", "o2146435072", "exhausted by o2146435072"},
    {"TrustsNoLargestOwnNumber", "o2147483647", "o2147483647", "exhausted by o2147483647"},
    {"TrustsNoWrappedOwnNumber", "o-2147483648", "o-2147483648", "exhausted by o-2147483648"},
    {"TrustsNoNegativeOwnNumber", "o-1", "o-1", "exhausted by o-1"},
    {"TrustsNoOwnNameWithoutANumber", "x", "x", "exhausted by x"},
    {"TrustsNoNumberBehindTheLast", "c2146435072 o5", "o5", "exhausted by c2146435072"},
    {"TrustsNoLargestNumber", "c2147483647 o5", "o5", "exhausted by c2147483647"},
    {"TrustsNoWrappedNumber", "c-2147483648 o5", "o5", "exhausted by c-2147483648"},
    {"TrustsNoNegativeNumber", "g-1 o5", "o5", "exhausted by g-1"},
    {"CannotOrderOneDigit", "lock-1 o5", "o5", "malformed by lock-1"},
    {"CannotOrderNineDigits", "lock-000000001 o5", "o5", "malformed by lock-000000001"},
    {"CannotOrderElevenDigits", "lock-00000000001 o5", "o5", "malformed by lock-00000000001"},
    {"IsAtItsEndWithATwinOfTheOwnNumber", "o5 c5", "o5", "exhausted by c5"},
    {"IsAtItsEndForTheTwinToo", "o5 c5", "c5", "exhausted by o5"},
    {"IsAtItsEndWithATwinBehindOthers", "g1 o5 c5", "o5", "exhausted by c5"},
    {"IsAtItsEndWithTwinsAsPredecessor", "c7 g7 c2 o9", "o9", "exhausted by any"},
    {"LeavesTwinsFurtherAheadToThoseBehindThem", "c2 g2 c7 o9", "o9", "waits for c7, 3 ahead"},
    {"LeavesTwinsBehindToThoseBehindThem", "o1 c3 g3", "o1", "is granted"},

    {"GrantsReadersTogether", "r1 r0 r2", "r2", "is granted", exclusive_only},
    {"LetsAReaderIgnoreLaterWriters", "r1 w2", "r1", "is granted", exclusive_only},
    {"LetsAReaderWaitForTheNearestWriter",
     "w1 r2 w3 r4 r5",
     "r5",
     "waits for w3, 2 ahead",
     exclusive_only},
    {"GrantsAReaderWhenTheOnlyWriterGoes", "w1 r2 r3", "r3", "is next behind w1", exclusive_only},
    {"LetsAWriterWaitForAnyBeforeIt", "r1 r2 w3", "w3", "waits for r2, 2 ahead"},
    {"GrantsAWriterWhenTheOnlyReaderGoes", "r1 w3", "w3", "is next behind r1"},
    // A reader may take the place of the writer.
    {"LetsAWriterBehindAWriterListAgain", "w1 w3", "w3", "waits for w1, 1 ahead"},
    {"GrantsAnUpgraderBesideEarlierReaders", "r1 w3 r4", "w3", "is granted", exclusive_only},
    {"HasNoConflictWithTheOwnDowngrade", "r3 w3", "r3", "is granted", exclusive_only},
    {"LetsAWriterWaitForTheReaderOfADowngrade", "w3 r3 w4", "w4", "waits for r3, 2 ahead"},
    {"IsAtItsEndWithTwoWritersOfANumber", "w3 W3", "w3", "exhausted by W3"},

    // A leader and its successor have one number while the leadership is transferred.
    {"ShowsBothOfATransferToAThird", "@a1 @b1 @c4", "@c4", "waits for any, 2 ahead"},
    {"LetsASuccessorWaitForTheLeader", "@a1 @b1 @c4", "@b1", "waits for @a1, 1 ahead", behind_twin},
    {"GrantsTheSuccessorNext", "@b1 @c4", "@b1", "is granted", behind_twin},
    {"LetsASuccessorWaitForOthersToo", "@z0 @a1 @b1", "@b1", "waits for @a1, 2 ahead", behind_twin},
    {"IsAtItsEndForACandidateNotLetInByItsTwin", "@a1 @b1", "@b1", "exhausted by @a1"},
    {"IsAtItsEndForItsTwin", "@a1 @b1", "@a1", "exhausted by @b1"},
    {"IsAtItsEndWithThreeOfOneNumber", "@a1 @b1 @d1 @c4", "@c4", "exhausted by any"},
    {"LeavesThreeFurtherAheadToOthers", "@a1 @b1 @d1 @d2 @c4", "@c4", "waits for @d2, 4 ahead"},
    // A successor may be in the leader's place.
    {"GrantsNoCandidateByADeletionAlone", "@a1 @c4", "@c4", "waits for @a1, 1 ahead"},
    {"TransfersNoMutex", "o1 c1 l2", "l2", "exhausted by any"},

    {"IgnoresTheDelayOfAHolderThatIsThere", "L1 d1", "L1", "is granted"},
    // The record shows how it ended, so there is no grant without a list.
    {"LetsWaitersListAgainBehindADelay", "L1 d1 l2", "l2", "waits for L1, 1 ahead"},
    {"DelaysTheFirstBehindADeadHolder", "d1 l2", "l2", "waits 30000 ms for d1, 1 ahead"},
    {"DelaysTheFirstThatHasADelay", "d1 L2", "L2", "waits 30000 ms for d1, 1 ahead"},
    {"DelaysANewcomer", "d1", "", "waits 30000 ms for d1, 1 ahead"},
    // The first may die while it waits for the delay.
    {"LetsALaterParticipantListAgain", "d1 l2 l3", "l3", "waits for l2, 1 ahead"},
    {"LetsAParticipantBehindADelayListAgain", "L2 l3", "l3", "waits for L2, 1 ahead"},
    {"GrantsAParticipantBehindNoDelay", "l2 L3", "L3", "is next behind l2"},
    {"DelaysAReaderBehindADeadWriter",
     "d1 r2",
     "r2",
     "waits 30000 ms for d1, 1 ahead",
     exclusive_only},
    {"GivesTheDelayToTheReaderOfADowngrade", "d1 r1 r2", "r2", "is granted", exclusive_only},
    {"LetsAReaderWaitForTheWriterItself",
     "d1 W1 r2",
     "r2",
     "waits for W1, 1 ahead",
     exclusive_only},
    {"LetsAWriterWaitForTheReaderItself", "d1 r1 w2", "w2", "waits for r1, 1 ahead"},
    {"HasNoDelaysWhereHoldersHaveNone", "d1 @a2", "@a2", "is granted"},

    {"IsFreeForANewcomer", "", "", "is granted"},
    {"IsFreeForANewcomerBesideForeignNames", "config 0000000001", "", "is granted"},
    {"PutsANewcomerBehindTheLast", "config c1 c0", "", "waits for c1, 2 ahead"},
    {"TellsANewcomerOfTheEndOfTheSequence", "c-1", "", "exhausted by c-1"},
    {"TellsANewcomerOfWhatCannotBeOrdered", "lock-1", "", "malformed by lock-1"},
};

INSTANTIATE_TEST_SUITE_P(, Queue, ::testing::ValuesIn(queue_cases), [](const auto& tested) {
    return tested.param.claim;
});

TEST(QueueOfMany, StaysRightAcrossAnUnusedGap) {
    names list;
    for (int i = 0; i < 20'000; ++i) {
        list.push_back(numbered(curator, 1000 + 3 * i));
    }
    const std::string own = numbered(ours, 1001 + 3 * 15'000);
    list.push_back(own);
    std::mt19937_64 random(1);
    std::shuffle(list.begin(), list.end(), random);
    const queue_verdict v = decide(list, own, lock_names, everybody);
    EXPECT_EQ(v.what, answer::wait);
    EXPECT_EQ(v.blocker, numbered(curator, 1000 + 3 * 15'000));
    EXPECT_EQ(v.ahead, 15'001U);
}

TEST(QueueEnd, IsKnownToTheLast) {
    struct last_case {
        const char* queue;  ///< the first one asks
        bool is_last;
    };

    for (const auto& [queue, is_last] : {last_case{"o5", true},
                                         last_case{"o5 c4 foreign", true},
                                         last_case{"o5 c6 c4", false},
                                         last_case{"o5 c5", false},
                                         // What cannot be ordered may be later.
                                         last_case{"o5 c-7", false},
                                         last_case{"o5 lock-007", false},
                                         last_case{"w5", true},
                                         last_case{"w5 r6", false},
                                         last_case{"w5 w6", false}}) {
        names list;
        const auto briefs = words_of(queue);
        std::transform(briefs.begin(), briefs.end(), std::back_inserter(list), written_out);
        EXPECT_EQ(queue_list(list, markers_for(briefs.front())).is_last(list.front()), is_last)
            << queue;
    }
}

}  // namespace
}  // namespace latchkey::test

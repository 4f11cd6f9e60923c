#include <latchkey/wait_graph.hpp>

#include "story.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A lock in a line: "m/a: 1 | 2 3" is a mutex that session 1 holds and 2 and 3 wait for. The first
/// letter is the kind: m, s (shared_mutex), p (semaphore), c (curator_semaphore), e (election). Of
/// a shared_mutex, "2r" is a reader and "2u" an upgrader. "0" has no session. In "p/a: 1 2 + | 3" a
/// permit is free.
queue_view view_of(const std::string& line) {
    queue_view v;
    const auto colon = line.find(':');
    v.path = line.substr(1, colon - 1);
    v.kind = std::map<char, lock_kind>{{'m', lock_kind::mutex},
                                       {'s', lock_kind::shared_mutex},
                                       {'p', lock_kind::semaphore},
                                       {'c', lock_kind::curator_semaphore},
                                       {'e', lock_kind::leader_election}}
                 .at(line[0]);
    const bool has_mode = v.kind == lock_kind::mutex || v.kind == lock_kind::shared_mutex;
    bool holding = true;
    for (const std::string& word : words_of(line.substr(colon + 1))) {
        if (word == "|" || word == "+") {
            holding = holding && word == "+";
            v.capacity += word == "+" ? 1 : 0;
            continue;
        }
        participant p;
        p.session_id = std::stoll(word);
        p.ephemeral = p.session_alive = p.session_id != 0;
        p.holding = holding;
        p.position = v.participants.size();
        p.name = v.path + '-' + std::to_string(p.position);
        p.czxid = std::hash<std::string>()(p.name) % 1'000'000 + 1;
        p.library = participant_library::latchkey;
        if (has_mode) {
            p.mode = word.ends_with('r')   ? lock_mode::shared
                     : word.ends_with('u') ? lock_mode::upgrade
                                           : lock_mode::exclusive;
        }
        v.taken += holding ? 1 : 0;
        v.participants.push_back(std::move(p));
    }
    v.capacity += v.kind == lock_kind::semaphore ? static_cast<std::uint32_t>(v.taken) : 0;
    return v;
}

std::vector<queue_view> views_of(const std::vector<std::string>& lines) {
    std::vector<queue_view> all;
    std::transform(lines.begin(), lines.end(), std::back_inserter(all), view_of);
    return all;
}

std::string text_of(const lock_wait& w) {
    return std::to_string(w.waiter.session_id) + "-" + w.path + "-" +
           std::to_string(w.blocker.session_id);
}

std::vector<std::string> texts_of(const std::vector<lock_wait>& waits) {
    std::vector<std::string> all;
    std::transform(waits.begin(), waits.end(), std::back_inserter(all), text_of);
    return all;
}

/// "1-/a-2 2-/b-1": session 1 waits at /a for 2, which waits at /b for 1. Behind a '+' stands what
/// else takes part.
std::string text_of(const deadlock& d) {
    std::string text;
    for (const lock_wait& w : d.cycle) {
        text += (text.empty() ? "" : " ") + text_of(w);
    }
    for (const lock_wait& w : d.others) {
        text += " +" + text_of(w);
    }
    return text;
}

std::vector<std::string> deadlocks_of(const std::vector<std::string>& lines) {
    std::vector<std::string> all;
    for (const deadlock& d : find_deadlocks(views_of(lines))) {
        all.push_back(text_of(d));
    }
    return all;
}

struct deadlock_case {
    const char* name;
    std::vector<std::string> locks;
    std::vector<std::string> deadlocks;
};

class Deadlocks : public ::testing::TestWithParam<deadlock_case> {};

TEST_P(Deadlocks, AreThoseAndNoOthers) {
    EXPECT_EQ(deadlocks_of(GetParam().locks), GetParam().deadlocks);
}

const deadlock_case all_cases[] = {
    {"Nothing", {}, {}},
    {"AQueueIsNone", {"m/a: 1 | 2 3"}, {}},
    {"AChainIsNone", {"m/a: 1 | 2", "m/b: 2 | 3", "m/c: 3 | 4"}, {}},
    {"OppositeOrders", {"m/a: 1 | 2", "m/b: 2 | 1"}, {"2-/a-1 1-/b-2"}},
    {"ThreeInARing", {"m/a: 1 | 2", "m/b: 2 | 3", "m/c: 3 | 1"}, {"2-/a-1 1-/c-3 3-/b-2"}},
    {"WhoWaitsBehindIsNoPart", {"m/a: 1 | 2 5", "m/b: 2 | 1", "m/d: 5 | 6"}, {"2-/a-1 1-/b-2"}},
    {"TwoApart",
     {"m/a: 1 | 2", "m/b: 2 | 1", "m/c: 3 | 4", "m/d: 4 | 3"},
     {"2-/a-1 1-/b-2", "4-/c-3 3-/d-4"}},
    {"OneBehindAnother",
     {"m/a: 1 | 2", "m/b: 2 | 1", "m/c: 3 | 4", "m/d: 4 | 3", "m/e: 1 | 3"},
     {"2-/a-1 1-/b-2", "4-/c-3 3-/d-4"}},
    {"ThroughAWaiterAhead",
     // 3 waits at /a behind 2, which waits for 1, which works. But 2 waits at /b for 3.
     {"m/a: 1 | 2 3", "m/b: 3 | 2"},
     {}},
    {"ThroughAWaiterAheadThatIsStuck", {"m/a: 9 | 2 3", "m/b: 3 | 9"}, {"3-/a-9 9-/b-3"}},
    {"WaitersInOppositeOrdersHoldNothing", {"m/a: 1 | 3 4", "m/b: 2 | 4 3"}, {}},
    {"ASessionThatHoldsTheLockAlready", {"m/a: 1 | 2 1"}, {}},
    {"HolderWithoutASession", {"m/a: 0 | 1", "m/b: 1 | 2"}, {}},
    {"ThoseWithoutASessionAreNotOne", {"m/a: 0 | 1", "m/b: 1 | 0"}, {}},
    {"WaiterWithoutASession", {"m/a: 1 | 0 2", "m/b: 2 | 1"}, {"2-/a-1 1-/b-2"}},
    {"CandidatesAreNone", {"e/a: 1 | 2", "m/b: 2 | 1"}, {}},

    {"ReadersThatHoldTogether", {"s/a: 1r 2r", "s/b: 2r 1r"}, {}},
    {"WriterBehindReaders", {"s/a: 1r 2r | 3", "m/b: 3 | 2"}, {"3-/a-2 2-/b-3"}},
    {"ReaderBehindAWaitingWriter",
     // The reader 4 lets the writer 3 pass, which waits for the reader 2.
     {"s/a: 2r | 3 4r", "m/b: 4 | 2"},
     {"3-/a-2 2-/b-4 4-/a-3"}},
    {"ReaderDoesNotWaitForReaders", {"s/a: 2r | 4r", "m/b: 4 | 2"}, {}},
    {"UpgraderDoesNotWaitForReaders", {"s/a: 1r 2u | 3u", "m/b: 3 | 1"}, {}},
    {"UpgraderWaitsForAnUpgrader", {"s/a: 1r 2u | 3u", "m/b: 3 | 2"}, {"3-/a-2 2-/b-3"}},
    {"ReaderWaitsForAnUpgrader", {"s/a: 2u | 3r", "m/b: 3 | 2"}, {"3-/a-2 2-/b-3"}},

    {"SemaphoreWithOneHolderThatWorks", {"p/s: 1 2 | 3", "m/b: 3 | 1"}, {}},
    {"SemaphoreWithoutAHolderThatWorks",
     {"p/s: 1 2 | 3", "m/b: 3 | 1 2"},
     {"1-/b-3 3-/s-1 +2-/b-3"}},
    {"SemaphoreWithAFreePermit", {"p/s: 1 2 + | 3", "m/b: 3 | 1 2"}, {}},
    {"SemaphoreWhoseHolderHasNoSession", {"p/s: 0 1 | 3", "m/b: 3 | 1"}, {}},
    {"SemaphoreWithAWaiterAhead",
     // 3 waits as long, but nothing waits for it.
     {"p/s: 1 2 | 3 4", "m/b: 4 | 1 2"},
     {"1-/b-4 4-/s-1 +2-/b-4"}},
    {"SemaphoreWhoseWaiterAheadIsStuckElsewhere",
     {"p/s: 1 | 3 4", "m/b: 4 | 1"},
     {"1-/b-4 4-/s-1"}},
    {"WorkersOfTwoProgramsThatShareASemaphore", {"p/s: 1 2 | 1 2"}, {}},
    {"SemaphoresWhoseHoldersAreInDeadlocksElsewhere",
     // 5 waits for a permit of 1 or 3, each of them in a deadlock of its own. It is no part of
     // either.
     {"m/a: 1 | 2", "m/b: 2 | 1", "m/c: 3 | 4", "m/d: 4 | 3", "p/s: 1 3 | 5", "m/e: 5 | 6"},
     {"2-/a-1 1-/b-2", "4-/c-3 3-/d-4"}},
    {"OnlyOneHolderWaitsForTheWaiter",
     // 1 waits for 5, and 5 for a permit of 1 or 3. If 3 and 4 were freed, all would go on.
     {"m/c: 3 | 4", "m/d: 4 | 3", "p/s: 1 3 | 5", "m/e: 5 | 1"},
     {"4-/c-3 3-/d-4"}},
    {"CuratorsSemaphore", {"c/s: 1 | 2", "m/b: 2 | 1"}, {"1-/b-2 2-/s-1"}},
};

INSTANTIATE_TEST_SUITE_P(, Deadlocks, ::testing::ValuesIn(all_cases), [](const auto& one) {
    return one.param.name;
});

TEST(WaitGraph, ShortestCycleIsShownAndTheRestOfTheKnot) {
    // 1 waits for 2 and 3 at once. Both wait for 1, the latter through 4.
    EXPECT_THAT(deadlocks_of({"m/a: 2 | 1", "m/b: 1 | 2 4", "m/c: 3 | 1", "m/d: 4 | 3"}),
                ElementsAre("1-/a-2 2-/b-1 +4-/b-1 +1-/c-3 +3-/d-4"));
}

TEST(WaitGraph, DeadlockLastsWhileItsZnodesDo) {
    const auto first = find_deadlocks(views_of({"m/a: 1 | 2", "m/b: 2 | 1"}));
    const auto with_more_behind = find_deadlocks(views_of({"m/a: 1 | 2 7", "m/b: 2 | 1"}));
    ASSERT_THAT(with_more_behind, SizeIs(1));
    EXPECT_TRUE(first.front().is_same(with_more_behind.front()));
    auto later = views_of({"m/a: 1 | 2", "m/b: 2 | 1"});
    later[0].participants[1].czxid += 1;
    EXPECT_FALSE(first.front().is_same(find_deadlocks(later).front())) << "it joined again";
}

TEST(WaitGraph, AHundredThousandWaitersAreNoTrouble) {
    std::string line = "m/a: 1 |";
    for (int i = 2; i < 100'000; ++i) {
        line += ' ' + std::to_string(i);
    }
    EXPECT_THAT(deadlocks_of({line, "m/b: 99999 | 1"}), ElementsAre("99999-/a-1 1-/b-99999"));
    EXPECT_THAT(deadlocks_of({line}), IsEmpty());
}

TEST(WaitGraph, DirectWaitsAreThoseForHoldersAndTheNearestAhead) {
    EXPECT_THAT(texts_of(find_waits(views_of({"m/a: 1 | 2 3"}))),
                ElementsAre("2-/a-1", "3-/a-1", "3-/a-2"));
    EXPECT_THAT(texts_of(find_waits(views_of({"s/a: 1r 2r | 3 4r"}))),
                ElementsAre("3-/a-1", "3-/a-2", "4-/a-3"));
    EXPECT_THAT(texts_of(find_waits(views_of({"p/s: 1 1 2 | 3"}))),
                ElementsAre("3-/s-1", "3-/s-2"));
    EXPECT_THAT(find_waits(views_of({"e/a: 1 | 2", "m/b: 1 | 1"})), IsEmpty());
}

TEST(WaitGraph, SelfWaitsAreThoseForAMutexThatIsNotReentrant) {
    EXPECT_THAT(texts_of(find_self_waits(views_of({"m/a: 1 | 2 1"}))), ElementsAre("1-/a-1"));
    EXPECT_THAT(find_self_waits(views_of({"s/a: 1r | 1", "p/s: 1 | 1", "m/a: 0 | 0"})), IsEmpty());
    auto curators = views_of({"m/a: 1 | 1"});
    curators[0].participants[1].library = participant_library::curator;
    EXPECT_THAT(find_self_waits(curators), IsEmpty());
}

}  // namespace
}  // namespace latchkey::test

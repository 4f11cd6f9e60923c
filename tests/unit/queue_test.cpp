#include "queue_names.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey {
namespace {

using namespace test;
using answer = queue_verdict::answer;
using ::testing::IsEmpty;

queue_verdict decided(const names& list, const std::string& own, const std::string& ignored = {}) {
    return decide(list, own, plain_names, queue_rule::everybody, ignored);
}

TEST(Queue, GrantsTheOnlyOne) {
    const std::string own = numbered(ours, 5);
    const queue_verdict v = decided({own}, own);
    EXPECT_EQ(v.what, answer::acquired);
    EXPECT_EQ(v.ahead, 0U);
    EXPECT_THAT(v.blocker, IsEmpty());
}

TEST(Queue, OrdersByNumberNotByName) {
    // By name, "_c_0c5b..." sorts before "_c_b7f3...".
    const std::string own = numbered(ours, 3);
    EXPECT_EQ(decided({numbered(curator, 4), own}, own).what, answer::acquired);
    const std::string last = numbered("_c_00000000-0000-4000-8000-000000000000-", 9);
    const queue_verdict v = decided({last, numbered(curator, 4), own}, last);
    EXPECT_EQ(v.what, answer::wait);
    EXPECT_EQ(v.blocker, numbered(curator, 4));
    EXPECT_EQ(v.ahead, 2U);
}

TEST(Queue, WaitsForTheNearestAheadOnly) {
    const std::string own = numbered(ours, 100);
    const queue_verdict v = decided({numbered(curator, 7),
                                     numbered(go_zk, 99),
                                     numbered(curator, 101),
                                     own,
                                     numbered(curator, 9)},
                                    own);
    EXPECT_EQ(v.what, answer::wait);
    EXPECT_EQ(v.blocker, numbered(go_zk, 99));
    EXPECT_EQ(v.ahead, 3U);
}

TEST(Queue, ForeignNamesTakeNoPart) {
    const std::string own = numbered(ours, 1);
    const names list{"0000000000",
                     "aaa",
                     "",
                     "locks",
                     "x-1f-0000000000",
                     "0123456789abcdef0123456789abcdef__lock__0000000000",
                     own};
    EXPECT_EQ(decided(list, own).what, answer::acquired);
}

TEST(Queue, OwnMissingIsGone) {
    const std::string own = numbered(ours, 5);
    EXPECT_EQ(decided({}, own).what, answer::gone);
    EXPECT_EQ(decided({numbered(curator, 4)}, own).what, answer::gone);
    EXPECT_EQ(decided({numbered(curator, 6)}, own).what, answer::gone);
    EXPECT_THAT(decided({numbered(curator, 4)}, own).blocker, IsEmpty());
    EXPECT_EQ(decided({numbered(curator, 4)}, own).ahead, 0U);
}

TEST(Queue, StraysOfTheOwnAttemptDoNotCount) {
    const std::string own = numbered(ours, 5);
    const std::string stray = numbered(ours, 3);
    EXPECT_EQ(decided({stray, own, numbered(ours, 8)}, own, ours).what, answer::acquired);
    const queue_verdict v = decided({stray, numbered(curator, 2), own}, own, ours);
    EXPECT_EQ(v.what, answer::wait);
    EXPECT_EQ(v.blocker, numbered(curator, 2));
    EXPECT_EQ(v.ahead, 1U);
    EXPECT_EQ(decided({numbered(ours, -1), ours + "lock-1", own}, own, ours).what,
              answer::acquired);
    // Without the prefix they do.
    EXPECT_EQ(decided({stray, own}, own).what, answer::wait);
}

TEST(Queue, TheOwnPrefixDoesNotHideTheOwnZnode) {
    const std::string own = numbered(ours, 5);
    EXPECT_EQ(decided({numbered(ours, 3)}, own, ours).what, answer::gone);
}

TEST(Queue, NeverGrantsWithANumberThatCannotBeTrusted) {
    const std::string last = numbered(ours, last_sequence);
    EXPECT_EQ(decided({last}, last).what, answer::acquired);
    for (const std::int64_t number : {std::int64_t{last_sequence} + 1,
                                      std::int64_t{2147483647},
                                      std::int64_t{-2147483648},
                                      std::int64_t{-1}}) {
        const std::string own = numbered(ours, number);
        const queue_verdict v = decided({own}, own);
        EXPECT_EQ(v.what, answer::exhausted) << number;
        EXPECT_EQ(v.blocker, own);
    }
    // Nor with a name that is no participant's at all.
    EXPECT_EQ(decided({"x"}, "x").what, answer::exhausted);
}

TEST(Queue, FailsWhenAnyNumberIsAtOrPastTheEnd) {
    const std::string own = numbered(ours, 5);
    for (const std::string& other : {numbered(curator, std::int64_t{last_sequence} + 1),
                                     numbered(curator, 2147483647),
                                     numbered(curator, -2147483648),
                                     numbered(go_zk, -1)}) {
        const queue_verdict v = decided({other, own}, own);
        EXPECT_EQ(v.what, answer::exhausted) << other;
        EXPECT_EQ(v.blocker, other);
        EXPECT_EQ(decided({own, other}, own).what, answer::exhausted) << other;
    }
}

TEST(Queue, FailsWhenAParticipantCannotBeOrdered) {
    const std::string own = numbered(ours, 5);
    for (const char* const other : {"lock-1", "lock-000000001", "lock-00000000001"}) {
        EXPECT_EQ(decided({other, own}, own).what, answer::malformed) << other;
        EXPECT_EQ(decided({own, other}, own).what, answer::malformed) << other;
        EXPECT_EQ(decided({own, other}, own).blocker, other);
    }
}

TEST(Queue, ATwinOfTheOwnNumberIsTheEndOfTheSequence) {
    const std::string own = numbered(ours, 5);
    const std::string twin = numbered(curator, 5);
    for (const names& list :
         {names{own, twin}, names{twin, own}, names{numbered(go_zk, 1), own, twin}}) {
        const queue_verdict v = decided(list, own);
        EXPECT_EQ(v.what, answer::exhausted);
        EXPECT_EQ(v.blocker, twin);
    }
    // Neither of the two is granted.
    EXPECT_EQ(decided({own, twin}, twin).what, answer::exhausted);
}

TEST(Queue, TwinsAsPredecessorAreTheEndOfTheSequenceInWhateverOrderTheyAreListed) {
    const std::string own = numbered(ours, 9);
    names list{numbered(curator, 7), numbered(go_zk, 7), numbered(curator, 2), own};
    std::sort(list.begin(), list.end());
    do {
        EXPECT_EQ(decided(list, own).what, answer::exhausted);
    } while (std::next_permutation(list.begin(), list.end()));
}

TEST(Queue, TwinsFurtherAheadConcernThoseBehindThemInWhateverOrderTheyAreListed) {
    const std::string own = numbered(ours, 9);
    names list{numbered(curator, 2), numbered(go_zk, 2), numbered(curator, 7), own};
    std::sort(list.begin(), list.end());
    do {
        const queue_verdict v = decided(list, own);
        EXPECT_EQ(v.what, answer::wait);
        EXPECT_EQ(v.blocker, numbered(curator, 7));
        EXPECT_EQ(v.ahead, 3U);
    } while (std::next_permutation(list.begin(), list.end()));
}

TEST(Queue, TwinsBehindDoNotConcernTheHolder) {
    const std::string own = numbered(ours, 1);
    EXPECT_EQ(decided({own, numbered(curator, 3), numbered(go_zk, 3)}, own).what, answer::acquired);
}

TEST(Queue, StaysRightAcrossAnUnusedGapAndManyParticipants) {
    names list;
    for (int i = 0; i < 20'000; ++i) {
        list.push_back(numbered(curator, 1000 + 3 * i));
    }
    const std::string own = numbered(ours, 1001 + 3 * 15'000);
    list.push_back(own);
    std::mt19937_64 random(1);
    std::shuffle(list.begin(), list.end(), random);
    const queue_verdict v = decided(list, own);
    EXPECT_EQ(v.what, answer::wait);
    EXPECT_EQ(v.blocker, numbered(curator, 1000 + 3 * 15'000));
    EXPECT_EQ(v.ahead, 15'001U);
}

TEST(Queue, TellsWhetherAnybodyHasJoinedLater) {
    const std::string own = numbered(ours, 5);
    const auto is_last = [&own](const names& list) {
        return queue_list(list, plain_names).is_last(own);
    };
    EXPECT_TRUE(is_last({own}));
    EXPECT_TRUE(is_last({numbered(curator, 4), "foreign", own}));
    EXPECT_FALSE(is_last({own, numbered(curator, 6), numbered(curator, 4)}));
    EXPECT_FALSE(is_last({own, numbered(ours + "x", 5)})) << "a twin";
    EXPECT_FALSE(is_last({own, numbered(curator, -7)})) << "what cannot be ordered may be later";
    EXPECT_FALSE(is_last({own, curator + "lock-007"}));
}

TEST(Queue, TellsWhetherAReaderIsBehindAWriter) {
    const std::string writer = "_c_own-__WRIT__0000000005";
    const auto is_last = [](const names& list) {
        return queue_list(list, read_write_names).is_last(list.front());
    };
    EXPECT_TRUE(is_last({writer}));
    EXPECT_FALSE(is_last({writer, "_c_other-__READ__0000000006"}));
    EXPECT_FALSE(is_last({writer, "_c_other-__WRIT__0000000006"}));
}

}  // namespace
}  // namespace latchkey

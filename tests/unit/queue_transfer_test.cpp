#include "leader/leader_candidate.hpp"
#include "queue/queue_order.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey {
namespace {

using enum queue_verdict::answer;
using enum queue_rule;

/// "a3" is a's znode with the number 3.
std::string candidate_name(const std::string& brief) {
    const std::string number = brief.substr(1);
    return "_c_" + brief.substr(0, 1) + "-latch-" + std::string(10 - number.size(), '0') + number;
}

queue_verdict decided_for(const std::vector<std::string>& briefs,
                          const std::string& own,
                          queue_rule rule = everybody) {
    std::vector<std::string> names;
    for (const std::string& b : briefs) {
        names.push_back(candidate_name(b));
    }
    return decide(names, candidate_name(own), latch_names, rule);
}

/// A leader and its successor have one number while the leadership is transferred.
TEST(TransferableQueue, ThirdOneSeesBothAheadOfItself) {
    const queue_verdict v = decided_for({"a1", "b1", "c4"}, "c4");
    EXPECT_EQ(v.what, wait);
    EXPECT_EQ(v.ahead, 2U);
    EXPECT_FALSE(v.grants_when_gone);
}

TEST(TransferableQueue, SuccessorSeesTheLeaderAheadAndIsTheFirstWhenThatIsGone) {
    const queue_verdict v = decided_for({"a1", "b1", "c4"}, "b1", behind_twin);
    EXPECT_EQ(v.what, wait);
    EXPECT_EQ(v.blocker, candidate_name("a1"));
    EXPECT_EQ(v.ahead, 1U);
    EXPECT_FALSE(v.grants_when_gone);
    EXPECT_EQ(decided_for({"b1", "c4"}, "b1", behind_twin).what, acquired);
}

TEST(TransferableQueue, SuccessorWaitsForOthersAheadAsWell) {
    const queue_verdict v = decided_for({"z0", "a1", "b1"}, "b1", behind_twin);
    EXPECT_EQ(v.what, wait);
    EXPECT_EQ(v.blocker, candidate_name("a1"));
    EXPECT_EQ(v.ahead, 2U);
}

TEST(TransferableQueue, WhoWasNotLetInByItsTwinIsTheEndOfTheSequence) {
    EXPECT_EQ(decided_for({"a1", "b1"}, "b1").what, exhausted);
    EXPECT_EQ(decided_for({"a1", "b1"}, "a1").what, exhausted);
}

TEST(TransferableQueue, ThreeOfOneNumberAreTheEndOfTheSequence) {
    EXPECT_EQ(decided_for({"a1", "b1", "d1", "c4"}, "c4").what, exhausted);
    EXPECT_EQ(decided_for({"a1", "b1", "d1", "d2", "c4"}, "c4").what, wait)
        << "further ahead they concern others";
}

TEST(TransferableQueue, NobodyIsGrantedByADeletionAlone) {
    const queue_verdict v = decided_for({"a1", "c4"}, "c4");
    EXPECT_EQ(v.ahead, 1U);
    EXPECT_FALSE(v.grants_when_gone) << "somebody may be in its place";
}

TEST(TransferableQueue, IsNotWhatAMutexHas) {
    const queue_markers lock{.exclusive = "lock-"};
    EXPECT_EQ(decide({"a-lock-0000000001", "b-lock-0000000001", "c-lock-0000000002"},
                     "c-lock-0000000002",
                     lock,
                     everybody)
                  .what,
              exhausted);
}

}  // namespace
}  // namespace latchkey

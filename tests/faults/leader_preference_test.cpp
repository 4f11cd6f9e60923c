// Candidates that are preferred to others, and those that are not any more.
#include "election_with_transfers.hpp"

#include <algorithm>
#include <string>

namespace latchkey::test {
namespace {

class PreferredLeader : public election_with_transfers {};

TEST_F(PreferredLeader, TakesOverWhenItHasBeenThereLongEnough) {
    candidate& plain = leading(taking_part("plain"));
    candidate& best = following(taking_part("best", 5));
    run_for(9s);
    EXPECT_TRUE(plain.latch->is_leader());
    EXPECT_FALSE(is_to_hand_over(plain));
    const leadership term = plain.latch->term();
    ASSERT_TRUE(run_until([&] { return is_to_hand_over(term); }, 3s));
    plain.latch->resign();
    ASSERT_TRUE(leads(best));
    run_for(300s);
    EXPECT_TRUE(best.latch->is_leader()) << "and stays";
    EXPECT_EQ(best.story.count("elected"), 1U);
    EXPECT_EQ(plain.story.count("elected"), 1U);
    expect_in_order(best);
}

TEST_F(PreferredLeader, IsNotOneOfTheSamePriority) {
    const auto all = queue_of(4, 5);
    run_for(600s);
    EXPECT_TRUE(all[0]->latch->is_leader());
    EXPECT_EQ(all[0]->story.count("elected"), 1U);
    EXPECT_FALSE(is_to_hand_over(*all[0]));
}

TEST_F(PreferredLeader, IsTheBestOfAll) {
    candidate& a = leading(taking_part("a", -1));
    candidate& b = following(taking_part("b", 3));
    candidate& c = following(taking_part("c", 7));
    candidate& d = following(taking_part("d", 7));
    ASSERT_TRUE(leads(c, 60s));
    run_for(300s);
    EXPECT_TRUE(c.latch->is_leader());
    EXPECT_LE(b.story.count("elected"), 1U);
    EXPECT_LE(d.story.count("elected"), 1U);
    EXPECT_EQ(a.story.count("elected"), 1U);
    EXPECT_EQ(c.story.count("elected"), 1U);
    expect_in_order(c);
}

TEST_F(PreferredLeader, WhoDoesNotAnswerIsOfferedItOnceInAWhileAndTheLeaderLeadsOn) {
    candidate& plain = leading(taking_part("plain"));
    candidate& best = following(taking_part("best", 5));
    run_for(5s);
    // Its session is kept alive, but nothing that it hears or says arrives.
    ensemble_.black_hole(best.id());
    run_for(7s);
    EXPECT_TRUE(plain.latch->is_leader());
    run_for(60s);
    EXPECT_TRUE(plain.latch->is_leader());
    EXPECT_EQ(plain.story.count("elected"), 1U);
    ensemble_.resume(best.id());
    ASSERT_TRUE(leads(best, 60s));
    expect_in_order(best);
}

TEST_F(PreferredLeader, IsOfferedNothingByOneThatHasNotBegunAndEverythingAHysteresisTimeLater) {
    candidate& first = leading(taking_part("first", 5));
    candidate& second = following(taking_part("second", 1));
    candidate& third = following(taking_part("third", 5));
    run_for(1s);
    first.latch->resign();
    ASSERT_TRUE(leads(second, 1s)) << "it begins at once";
    EXPECT_FALSE(run_until([&] { return third.latch->is_leader(); }, 9s));
    ASSERT_TRUE(leads(third, 10s)) << "it is better than the second, which has to finish first";
    expect_in_order(third);
    run_for(12s);
    third.latch.reset();
    ASSERT_TRUE(leads(first)) << "who has resigned is preferred again after a while";
    EXPECT_EQ(second.story.count("elected"), 1U);
    expect_in_order(first);
}

TEST_F(PreferredLeader, ThatHasFailedCoolsDownFirst) {
    candidate& best = leading(taking_part("best", 5));
    candidate& plain = following(taking_part("plain"));
    run_for(1s);
    for (int failure = 0; failure < 2; ++failure) {
        by_force([&] { ensemble_.expire(best.id()); });
        ASSERT_TRUE(leads(plain));
        EXPECT_FALSE(run_until([&] { return best.latch->is_leader(); }, 60s));
        EXPECT_FALSE(is_to_hand_over(plain));
        ASSERT_TRUE(leads(best, 30s)) << "then it is preferred again";
        run_for(1s);
    }
    EXPECT_EQ(plain.story.count("elected"), 2U);
    expect_in_order(best);
}

TEST_F(PreferredLeader, ThatHasFailedAndComesBackAsAnotherProcessCoolsDownToo) {
    candidate& crashed = leading(taking_part("best", 5));
    candidate& plain = following(taking_part("plain"));
    run_for(1s);
    by_force([&] {
        ensemble_.expire(crashed.id());
        crashed.latch.reset();
    });
    ASSERT_TRUE(leads(plain));
    run_for(5s);
    candidate& again = following(taking_part("best", 5));
    EXPECT_FALSE(run_until([&] { return again.latch->is_leader(); }, 60s));
    ASSERT_TRUE(leads(again, 30s));
    again.latch->resign();
    ASSERT_TRUE(leads(plain));
    ASSERT_TRUE(leads(again, 30s)) << "giving up is no failure";
}

TEST_F(PreferredLeader, ThatHasFailedMayStillLeadWhenNobodyElseIsThere) {
    candidate& best = leading(taking_part("best", 5));
    run_for(1s);
    by_force([&] { ensemble_.expire(best.id()); });
    ASSERT_TRUE(run_until([&] { return best.story.count("elected") == 2; }, 5s));
    candidate& other = following(taking_part("other", -7));
    ASSERT_TRUE(leads(other, 30s)) << "anybody is better for a while";
    ASSERT_TRUE(leads(best, 90s));
}

TEST_F(PreferredLeader, OfTheSameNameAsTheOneThatLeadsHasNotFailed) {
    leading(taking_part("same"));
    ASSERT_TRUE(leads(following(taking_part("same", 5)), 20s));
}

TEST_F(PreferredLeader, HasNotFailedBecauseItsConnectionBreaksWhenItLooks) {
    at_every_moment(
        15ms,
        [&] {
            leading(taking_part("same"));
            run_for(1s);
            candidate& second = add(taking_part("same", 5));
            second.latch->start();
            return &second;
        },
        [&](const candidate* second) { ensemble_.cut(second->id()); },
        [&](const candidate* second) {
            run_for(5s);
            EXPECT_NE(mailbox_of(znode_of(*second)).find("/p5-"), std::string::npos);
        });
}

}  // namespace
}  // namespace latchkey::test

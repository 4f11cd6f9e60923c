// What Curator's LeaderLatch and LeaderSelector have got wrong, and must not be got wrong here.
#include "election.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

using when = ensemble::when;
using op = ensemble::request_kind;

class KnownDefects : public election {
protected:
    /// All candidates together have one leader, and one znode each.
    void expect_one_leader() {
        run_for(20s);
        ASSERT_TRUE(somebody_leads());
        expect_in_order(*leader());
        for (const candidate& c : candidates_) {
            expect_pairs(c);
        }
    }
};

// CURATOR-504: two resets at once, as after RECONNECTED, and each of them made a znode; the latch
// forgot one of the two, which then led for nobody.
TEST_F(KnownDefects, ReconnectingAgainAndAgainLeavesOneZnodeAndOneLeader) {
    const auto [first, second] = leader_and_follower();
    for (int i = 0; i < 20; ++i) {
        ensemble_.cut(first.id());
        ensemble_.cut(second.id());
        run_for(i * one_way / 2);
        ensemble_.cut(first.id());
        run_for(3 * one_way);
        EXPECT_LE(znodes().size(), 2U);
    }
    expect_one_leader();
    EXPECT_TRUE(first.latch->is_leader()) << "nothing but connections was lost";
}

// CURATOR-518: interrupted twice, LeaderSelector was never requeued again.
TEST_F(KnownDefects, ResigningTwiceKeepsTheCandidacy) {
    candidate& first = leading();
    candidate& second = following();
    for (int i = 0; i < 5; ++i) {
        first.latch->resign();
        first.latch->resign();
        ASSERT_TRUE(leads(second));
        first.latch->resign();  // which does not lead
        run_for(1s);
        second.latch->resign();
        run_for(one_way / 2);
        second.latch->resign();
        ASSERT_TRUE(leads(first));
        run_for(1s);
    }
    expect_one_leader();
}

// CURATOR-604: the znode is created in one session, which ends; the list is read in the next one
// from a server that has not removed that znode yet, and says that it is the first.
TEST_F(KnownDefects, ZnodeOfTheSessionBeforeIsNoGrant) {
    const int behind = (ensemble_.leader() + 1) % 3;
    at_every_moment(
        10ms,
        [&] {
            candidate& c = add();
            ensemble_.move(c.id(), behind);
            run_for(1s);
            ensemble_.lag(behind, 300ms);
            c.latch->start();
            return &c;
        },
        [&](candidate* c) {
            const auto before = c->id();
            by_force([&] { ensemble_.expire(before); });
            ASSERT_TRUE(run_until([&] { return c->id() != 0 && c->id() != before; }));
            ensemble_.move(c->id(), behind);
        },
        [&](candidate* c) {
            ASSERT_TRUE(leads(*c));
            ensemble_.lag(behind, 0s);
            expect_one_leader();
        });
}

// CURATOR-620: the session changes between the create and the look at who is the first.
// CURATOR-696: the same, with a znode whose ephemeralOwner is the session before: see
// AtAnyMoment.ASessionMayBeReplacedWithoutAWord.

// CURATOR-644: who found that its znode was gone when it looked for its place reset itself, with
// the path of the znode before; and was a leader without a znode.
TEST_F(KnownDefects, ZnodeThatGoesBeforeTheListIsReplacedByANewOne) {
    candidate& first = leading();
    candidate& second = add();
    // The list is answered, and it is not on it.
    ensemble_.refuse_next(op::children, -127, second.id());
    second.latch->start();
    ASSERT_TRUE(run_until([&] { return znodes().size() == 2; }));
    by_force([&] { remove_znodes_but(first.latch->term().path()); });
    run_for(2s);
    EXPECT_TRUE(first.latch->is_leader());
    EXPECT_EQ(znodes().size(), 2U);
    first.latch.reset();
    expect_leads(second);
}

// CURATOR-645: whose predecessor was gone when it was to be watched reset itself: two such made
// each other do that for ever.
TEST_F(KnownDefects, PredecessorThatGoesBeforeItIsWatchedCostsNoPlaceAndNoLoop) {
    candidate& first = leading();
    candidate& second = add();
    // Its watches are lost, and set again after the predecessor has gone.
    ensemble_.fail_next(op::get, when::before, second.id(), 2);
    second.latch->start();
    ASSERT_TRUE(run_until([&] { return znodes().size() == 2; }));
    first.latch->close();
    ensemble_.reset_counters();
    ASSERT_TRUE(leads(second));
    EXPECT_EQ(ensemble_.count(second.id()).creates, 0U) << "it kept its znode";
    EXPECT_LE(ensemble_.count(second.id()).requests(), 12U);
    first.latch.reset();
    run_for(1s);
    expect_in_order(second);
}

// CURATOR-653: an answer to what was asked before the leadership changed came afterwards, and the
// latch deleted the znode that it led with.
TEST_F(KnownDefects, LateAnswersOfAnEarlierAttemptDoNotTouchTheTermOfTheNext) {
    at_every_moment(
        15ms,
        [&] {
            const couple both = leader_and_follower();
            both.first.latch->resign();
            return both;
        },
        [&](const couple& both) {
            // What is under way now is answered when it is a leader by other means.
            ensemble_.cut(both.second.id());
            both.first.latch->resign();
            run_for(one_way);
            ensemble_.cut(both.first.id());
        },
        [&](auto&) {
            ASSERT_TRUE(somebody_leads());
            const leadership term = leader()->latch->term();
            run_for(30s);
            EXPECT_TRUE(term.valid()) << "nobody took it away";
            expect_one_leader();
        });
}

// CURATOR-724: the directory vanished under the candidates, and the election ended in an error.
TEST_F(KnownDefects, DirectoryThatVanishesIsMadeAnewAndHasOneLeader) {
    candidate& first = leading();
    candidate& second = following();
    const auto before = first.latch->term().token();
    by_force([&] {
        remove_znodes_but();
        ensemble_.remove(path);
    });
    run_for(2s);
    ASSERT_TRUE(somebody_leads());
    EXPECT_GT(leader()->latch->term().token(), before);
    EXPECT_EQ(first.story.count(leader_story::lost(loss_reason::znode_deleted)), 1U);
    expect_one_leader();
    EXPECT_EQ(second.story.count("refused"), 0U);
}

// CURATOR-365: a directory that may not be written to was an endless loop without a word: see
// RefusedCandidate.

// Not in their tracker: an answer that came after SUSPENDED made the latch a leader again until
// LOST. Here no answer comes after `suspended` (SessionContract), and nobody is elected by one that
// came before.
TEST_F(KnownDefects, ConnectionThatBreaksAtAnyMomentElectsNobodyUntilItIsBack) {
    at_every_moment(
        10ms,
        [&] {
            candidate& c = add({.on_suspended = suspended_policy::step_down});
            c.latch->start();
            return &c;
        },
        [&](candidate* c) { ensemble_.suspend(c->id()); },
        [&](candidate* c) {
            run_for(5 * one_way);
            EXPECT_FALSE(c->latch->is_leader());
            run_for(1s);
            EXPECT_FALSE(c->latch->is_leader());
            ensemble_.resume(c->id());
            ASSERT_TRUE(leads(*c));
            expect_one_leader();
        });
}

}  // namespace
}  // namespace latchkey::test

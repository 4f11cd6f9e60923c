// A candidate's life goes on: servers that are behind or not there yet, connections that are gone,
// and refusals.
#include "election.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;

// ---- servers ----

class CandidateAndServers : public election {
protected:
    void each_server(void (ensemble::*act)(int)) {
        for (int i = 0; i < 3; ++i) {
            (ensemble_.*act)(i);
        }
    }

    const int behind_ = (ensemble_.leader() + 1) % 3;
};

TEST_F(CandidateAndServers, StartsBeforeAnyServerIsReachable) {
    each_server(&ensemble::stop_server);
    client c = ensemble_.connect({.session_timeout = 12s});
    leader_story story;
    leader_latch latch(c, path);
    const subscription told = latch.on_change(story.teller());
    latch.start();
    leadership led;
    latch.async_wait(60s, {}, [&](std::error_code ec, leadership term) {
        EXPECT_FALSE(ec);
        led = std::move(term);
    });
    ensemble_.run_for(20s);
    EXPECT_FALSE(led);
    EXPECT_FALSE(latch.is_leader());
    each_server(&ensemble::start_server);
    ASSERT_TRUE(ensemble_.run_until([&] { return led.valid(); }, 60s));
    ensemble_.run_for(10s);
    EXPECT_THAT(story.told(), ElementsAre("elected"));
}

TEST_F(CandidateAndServers, ClosedBeforeAnyServerIsReachableLeavesNothing) {
    each_server(&ensemble::stop_server);
    client c = ensemble_.connect({.session_timeout = 12s});
    std::error_code told;
    {
        leader_latch latch(c, path);
        latch.async_wait(60s, {}, [&](std::error_code ec, const leadership&) { told = ec; });
        ensemble_.run_for(1s);
    }
    each_server(&ensemble::start_server);
    ensemble_.run_for(20s);
    EXPECT_EQ(told, errc::closed);
    EXPECT_TRUE(znodes().empty());
}

TEST_F(CandidateAndServers, FollowerOfAServerThatIsBehindLeadsLaterAndWithAHigherToken) {
    const auto [first, second] = leader_and_follower();
    ensemble_.move(first.id(), ensemble_.leader());
    ensemble_.move(second.id(), behind_);
    run_for(1s);
    ensemble_.lag(behind_, 500ms);
    for (int i = 0; i < 5; ++i) {
        first.latch->resign();
        ASSERT_TRUE(leads(second));
        second.latch->resign();
        ASSERT_TRUE(leads(first));
    }
    expect_in_order(first);
}

TEST_F(CandidateAndServers, CandidateThatJoinsAServerThatIsBehindDoesNotTrustAnOldRecord) {
    candidate& first = leading();
    candidate& second = add();
    ensemble_.move(second.id(), behind_);
    run_for(1s);
    ensemble_.lag(behind_, 700ms);
    for (int i = 0; i < 5; ++i) {
        proclaim(first.latch->term(), {std::to_string(i)});
        run_for(100ms);
        first.latch.reset();
        second.latch->start();
        ASSERT_TRUE(leads(second));
        expect_in_order(second);
        begin_anew(first);
        run_for(2s);
        second.latch.reset();
        ASSERT_TRUE(leads(first));
        second.latch = std::make_unique<leader_latch>(second.session, path);
    }
}

TEST_F(CandidateAndServers, LeaderThatIsStoppedKnowsThatItIsNoneWhenItWakesUp) {
    const auto [first, second] = leader_and_follower();
    const leadership term = first.latch->term();
    ensemble_.pause(first.id());
    ASSERT_TRUE(leads(second, 30s));
    EXPECT_FALSE(term.valid()) << "no event was delivered, and none is needed";
    EXPECT_THAT(first.story.told(), ElementsAre("elected"));
    ensemble_.resume(first.id());
    run_for(5s);
    EXPECT_EQ(first.story.count("lost"), 1U);
    expect_in_order(second);
}

// ---- refusals ----

class RefusedCandidate : public election {
protected:
    void allow(permission what) { ensemble_.set_acl(path, {{"world", "anyone", what}}); }
};

TEST_F(RefusedCandidate, IsToldTriesAgainSeldomAndLeadsWhenItMay) {
    ensemble_.create(path);
    for (const auto granted : {permission::read, permission::create | permission::write}) {
        allow(granted);
        candidate& c = add();
        std::error_code told;
        c.latch->async_wait(60s, {}, [&](std::error_code ec, const leadership&) { told = ec; });
        run_for(30s);
        EXPECT_EQ(told, errc::not_authorized);
        EXPECT_GE(c.story.count("refused: "), 2U);
        ensemble_.reset_counters();
        run_for(30s);
        EXPECT_LE(ensemble_.count().requests(), 100U) << "no loop without a pause";
        allow(permission::all);
        expect_leads(c);
        candidates_.clear();
        run_for(1s);
    }
}

/// It leads once it is behind nobody that led since it came: its czxid is its token then, and the
/// record tells of somebody who is gone.
TEST_F(RefusedCandidate, WhoMayNotWriteTheRecordDoesNotLeadByAWrite) {
    const auto [first, second] = leader_by_a_write_and_follower();
    run_for(1s);
    allow(permission::read | permission::create | permission::remove);
    first.latch.reset();
    ASSERT_TRUE(leads(second));
    EXPECT_EQ(second.story.count("refused: "), 1U);
    allow(permission::all);
    const auto told = proclaim(second.latch->term(), {""});
    expect_in_order(second);
    EXPECT_THAT(*told, ElementsAre(std::error_code()));
}

TEST_F(RefusedCandidate, DataOfSomebodyElseIsLeftAloneAndOthersMayLeadMeanwhile) {
    const auto [first, second] = leader_and_follower();
    run_for(1s);
    ensemble_.set(path, "somebody's");
    first.latch.reset();
    run_for(20s);
    EXPECT_EQ(ensemble_.get(path)->data, "somebody's");
    EXPECT_FALSE(second.latch->is_leader());
    EXPECT_GE(second.story.count("refused: "), 2U);
    ensemble_.set(path, "");
    expect_leads(second);
}

TEST_F(RefusedCandidate, OfAClientThatIsClosedWaitsNoMore) {
    candidate& first = leading();
    candidate& second = following();
    std::vector<std::error_code> told;
    const auto wait = [&] {
        second.latch->async_wait(
            60s, {}, [&](std::error_code ec, const leadership&) { told.push_back(ec); });
        run_for(1s);
    };
    wait();
    second.session.close();
    run_for(1s);
    wait();
    EXPECT_THAT(told, ElementsAre(errc::closed, errc::closed));
    EXPECT_EQ(znodes().size(), 1U);
    EXPECT_TRUE(first.latch->is_leader());
    EXPECT_TRUE(second.story.told().empty());
}

// ---- connections that are gone, with either policy ----

class SuspendedLeader : public election {
protected:
    SuspendedLeader() { run_for(10s); }

    static leader_options of(suspended_policy p) { return {.on_suspended = p}; }

    /// Ways to lose the connection of a leader; the server is not the leading one.
    void lose(int how, const candidate& c, int server) {
        switch (how) {
            case 0:
                ensemble_.suspend(c.id());
                break;
            case 1:
                ensemble_.black_hole(c.id());
                break;
            case 2:
                ensemble_.pause(c.id());
                break;
            default:
                ensemble_.move(c.id(), server);
                run_for(100ms);
                ensemble_.isolate(server);
                break;
        }
    }
};

TEST_F(SuspendedLeader, LeadsOnUntilItsDeadlineAndLosesNothingIfItComesBackBefore) {
    const auto [first, second] = leader_and_follower();
    run_for(10s);
    const auto token = first.latch->term().token();
    ensemble_.suspend(first.id());
    run_for(4s);
    EXPECT_TRUE(first.latch->is_leader()) << "believed for half of the 12 s";
    ensemble_.resume(first.id());
    run_for(20s);
    EXPECT_TRUE(first.latch->is_leader());
    EXPECT_EQ(first.latch->term().token(), token);
    EXPECT_THAT(first.story.told(), ElementsAre("elected"));
    EXPECT_FALSE(second.latch->is_leader());
}

TEST_F(SuspendedLeader, IsNoLeaderAfterItsDeadlineAndBeforeTheNextOneIs) {
    candidate& first = leading();
    candidate& second = following();
    ensemble_.suspend(first.id());
    ASSERT_TRUE(run_until([&] { return !first.latch->is_leader(); }, 12s));
    EXPECT_FALSE(second.latch->is_leader());
    ASSERT_TRUE(leads(second, 15s));
    ensemble_.resume(first.id());
    run_for(20s);
    expect_in_order(second);
    EXPECT_THAT(first.story.told(),
                ElementsAre("elected", leader_story::lost(loss_reason::deadline_passed)));
    second.latch->resign();
    expect_leads(first);
}

TEST_F(SuspendedLeader, StepsDownAtOnceIfThatIsItsPolicyAndGoesToTheTail) {
    candidate& first = leading(of(suspended_policy::step_down));
    candidate& second = following();
    run_for(10s);
    const leadership term = first.latch->term();
    ensemble_.suspend(first.id());
    run_for(10 * one_way);
    EXPECT_FALSE(term.valid());
    EXPECT_EQ(term.why_lost(), loss_reason::suspended);
    EXPECT_TRUE(term.lost().stop_requested());
    EXPECT_THAT(first.story.told(),
                ElementsAre("elected", leader_story::lost(loss_reason::suspended)));
    EXPECT_FALSE(second.latch->is_leader()) << "the znode is there as long as nobody can delete it";
    ensemble_.resume(first.id());
    ASSERT_TRUE(leads(second, 2s)) << "no session timeout was waited for";
    expect_in_order(second);
    second.latch->resign();
    expect_leads(first);
}

TEST_F(SuspendedLeader, StepsDownOnceForAWordAndLeadsAgainWhenNobodyElseDoes) {
    candidate& c = leading(of(suspended_policy::step_down));
    for (int i = 0; i < 3; ++i) {
        const auto before = c.latch->term().token();
        ensemble_.cut(c.id());
        run_for(one_way);
        ASSERT_TRUE(leads(c, 5s));
        EXPECT_GT(c.latch->term().token(), before);
        expect_in_order(c);
    }
    EXPECT_EQ(c.story.count("elected"), 4U);
    EXPECT_EQ(c.story.count("lost"), 3U);
}

/// Whatever becomes of the leader's connection, and whenever.
TEST_F(SuspendedLeader, NeverMakesASecondOne) {
    for (const auto policy : {suspended_policy::until_deadline, suspended_policy::step_down}) {
        for (auto phase = 0ms; phase < 4s; phase += 370ms) {
            for (int how = 0; how < 4; ++how) {
                const auto [first, second] = leader_and_follower(of(policy));
                run_for(phase);
                const int follower = (ensemble_.leader() + 1) % 3;
                lose(how, first, follower);
                run_for(40s);
                ensemble_.resume(first.id());
                ensemble_.heal(follower);
                ASSERT_TRUE(somebody_leads());
                run_for(30s);
                expect_pairs(first);
                expect_pairs(second);
                expect_in_order(*leader());
                ASSERT_FALSE(HasFailure()) << "phase " << phase.count() << " ms, how " << how;
                candidates_.clear();
                run_for(1s);
            }
        }
    }
}

}  // namespace
}  // namespace latchkey::test

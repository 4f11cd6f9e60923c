// A candidate's life goes on: servers that are behind or not there yet, and refusals.
#include "election.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;

// ---- servers ----

class CandidateAndServers : public election {};

TEST_F(CandidateAndServers, StartsBeforeAnyServerIsReachable) {
    for (int i = 0; i < 3; ++i) {
        ensemble_.stop_server(i);
    }
    client c = ensemble_.connect({.session_timeout = 12s});
    leader_story story;
    leader_latch latch(c, path);
    const subscription told = latch.on_change(story.teller());
    latch.start();
    bool waited = false;
    leadership led;
    latch.async_wait(60s, {}, [&](std::error_code ec, leadership term) {
        EXPECT_FALSE(ec);
        led = std::move(term);
        waited = true;
    });
    std::error_code timed_out;
    latch.async_wait(5s, {}, [&](std::error_code ec, const leadership&) { timed_out = ec; });
    ensemble_.run_for(20s);
    EXPECT_EQ(timed_out, errc::unreachable);
    EXPECT_FALSE(waited);
    EXPECT_FALSE(latch.is_leader());
    for (int i = 0; i < 3; ++i) {
        ensemble_.start_server(i);
    }
    ASSERT_TRUE(ensemble_.run_until([&] { return waited; }, 60s));
    EXPECT_TRUE(led.valid());
    ensemble_.run_for(10s);
    EXPECT_THAT(story.told(), ElementsAre("elected"));
}

TEST_F(CandidateAndServers, ClosedBeforeAnyServerIsReachableLeavesNothing) {
    for (int i = 0; i < 3; ++i) {
        ensemble_.stop_server(i);
    }
    client c = ensemble_.connect({.session_timeout = 12s});
    std::error_code told;
    {
        leader_latch latch(c, path);
        latch.async_wait(60s, {}, [&](std::error_code ec, const leadership&) { told = ec; });
        ensemble_.run_for(1s);
    }
    for (int i = 0; i < 3; ++i) {
        ensemble_.start_server(i);
    }
    ensemble_.run_for(20s);
    EXPECT_EQ(told, errc::closed);
    EXPECT_TRUE(ensemble_.children(path).empty());
}

TEST_F(CandidateAndServers, FollowerOfAServerThatIsBehindLeadsLaterAndWithAHigherToken) {
    candidate& first = leading();
    candidate& second = following();
    const int behind = (ensemble_.leader() + 1) % 3;
    ensemble_.move(first.id(), ensemble_.leader());
    ensemble_.move(second.id(), behind);
    run_for(1s);
    ensemble_.lag(behind, 500ms);
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
    const int behind = (ensemble_.leader() + 1) % 3;
    candidate& second = add();
    ensemble_.move(second.id(), behind);
    run_for(1s);
    ensemble_.lag(behind, 700ms);
    for (int i = 0; i < 5; ++i) {
        first.latch->term().async_proclaim(std::to_string(i), [](std::error_code) {});
        run_for(100ms);
        first.latch.reset();
        second.latch->start();
        ASSERT_TRUE(leads(second));
        expect_in_order(second);
        first.latch = std::make_unique<leader_latch>(first.session, path);
        first.latch->start();
        run_for(2s);
        second.latch.reset();
        ASSERT_TRUE(leads(first));
        second.latch = std::make_unique<leader_latch>(second.session, path);
    }
}

TEST_F(CandidateAndServers, LeaderThatIsStoppedKnowsThatItIsNoneWhenItWakesUp) {
    candidate& first = leading();
    candidate& second = following();
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
        ASSERT_TRUE(leads(c));
        expect_in_order(c);
        expect_pairs(c);
        candidates_.clear();
        run_for(1s);
    }
}

/// It may when nobody has written since it came: its czxid is its token then, and the record tells
/// of somebody who is gone.
TEST_F(RefusedCandidate, WhoMayNotWriteTheRecordDoesNotLeadByAWrite) {
    candidate& first = leading();
    candidate& second = following();
    run_for(1s);
    allow(permission::read | permission::create | permission::remove);
    first.latch.reset();
    ASSERT_TRUE(leads(second));
    EXPECT_EQ(second.story.count("refused: "), 1U);
    allow(permission::all);
    second.latch->term().async_proclaim("", [](std::error_code ec) { EXPECT_FALSE(ec); });
    expect_in_order(second);
}

TEST_F(RefusedCandidate, DataOfSomebodyElseIsLeftAloneAndOthersMayLeadMeanwhile) {
    candidate& first = leading();
    candidate& second = following();
    run_for(1s);
    ensemble_.set(path, "somebody's");
    first.latch.reset();
    run_for(20s);
    EXPECT_EQ(ensemble_.get(path)->data, "somebody's");
    EXPECT_FALSE(second.latch->is_leader());
    EXPECT_GE(second.story.count("refused: "), 2U);
    ensemble_.set(path, "");
    ASSERT_TRUE(leads(second));
    expect_in_order(second);
}

TEST_F(RefusedCandidate, OfAClientThatIsClosedWaitsNoMore) {
    candidate& first = leading();
    candidate& second = following();
    std::vector<std::error_code> told;
    const auto wait = [&] {
        second.latch->async_wait(
            60s, {}, [&](std::error_code ec, const leadership&) { told.push_back(ec); });
    };
    wait();
    run_for(1s);
    second.session.close();
    run_for(1s);
    wait();
    run_for(1s);
    EXPECT_THAT(told, ElementsAre(make_error_code(errc::closed), make_error_code(errc::closed)));
    EXPECT_EQ(ensemble_.children(path).size(), 1U);
    EXPECT_TRUE(first.latch->is_leader());
    EXPECT_TRUE(second.story.told().empty());
}

}  // namespace
}  // namespace latchkey::test

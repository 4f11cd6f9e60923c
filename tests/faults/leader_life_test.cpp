// How a leader's life ends, and a candidate's goes on: connections that are suspended, servers that
// are cut off or not there yet, refusals, and listeners that do what they like.
#include "election.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;
using op = ensemble::operation;

// ---- a suspended connection ----

class SuspendedLeader : public election {
protected:
    SuspendedLeader() { run_for(10s); }

    static leader_options of(suspended_policy p) { return {.on_suspended = p}; }
};

TEST_F(SuspendedLeader, LeadsOnUntilItsDeadlineAndLosesNothingIfItComesBackBefore) {
    candidate& first = leading();
    candidate& second = following();
    run_for(10s);
    const auto token = first.latch->leadership().fencing_token();
    ensemble_.suspend(first.id());
    run_for(4s);
    EXPECT_TRUE(first.latch->is_leader()) << "believed for half of the 12 s";
    ensemble_.resume(first.id());
    run_for(20s);
    EXPECT_TRUE(first.latch->is_leader());
    EXPECT_EQ(first.latch->leadership().fencing_token(), token);
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
                ElementsAre("elected", leader_story::lost(loss::deadline_passed)));
    second.latch->resign();
    EXPECT_TRUE(leads(first));
    expect_pairs(first);
}

TEST_F(SuspendedLeader, StepsDownAtOnceIfThatIsItsPolicyAndGoesToTheTail) {
    candidate& first = leading(of(suspended_policy::step_down));
    candidate& second = following();
    run_for(10s);
    const leadership term = first.latch->leadership();
    ensemble_.suspend(first.id());
    run_for(10 * one_way);
    EXPECT_FALSE(term.valid());
    EXPECT_EQ(term.why_lost(), loss::suspended);
    EXPECT_TRUE(term.lost().stop_requested());
    EXPECT_THAT(first.story.told(), ElementsAre("elected", leader_story::lost(loss::suspended)));
    EXPECT_FALSE(second.latch->is_leader()) << "the znode is there as long as nobody can delete it";
    ensemble_.resume(first.id());
    ASSERT_TRUE(leads(second, 2s)) << "no session timeout was waited for";
    expect_in_order(second);
    second.latch->resign();
    EXPECT_TRUE(leads(first));
    expect_pairs(first);
}

TEST_F(SuspendedLeader, StepsDownOnceForAWordAndLeadsAgainWhenNobodyElseDoes) {
    candidate& c = leading(of(suspended_policy::step_down));
    for (int i = 0; i < 3; ++i) {
        const auto before = c.latch->leadership().fencing_token();
        ensemble_.cut(c.id());
        run_for(one_way);
        ASSERT_TRUE(leads(c, 5s));
        EXPECT_GT(c.latch->leadership().fencing_token(), before);
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
                candidate& first = leading(of(policy));
                candidate& second = following(of(policy));
                run_for(phase);
                const int follower = (ensemble_.leader() + 1) % 3;
                switch (how) {
                    case 0:
                        ensemble_.suspend(first.id());
                        break;
                    case 1:
                        ensemble_.black_hole(first.id());
                        break;
                    case 2:
                        ensemble_.pause(first.id());
                        break;
                    default:
                        ensemble_.move(first.id(), follower);
                        run_for(100ms);
                        ensemble_.isolate(follower);
                        break;
                }
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

// ---- servers ----

class CandidateAndServers : public election {};

TEST_F(CandidateAndServers, StartsBeforeAnyServerIsReachable) {
    for (int i = 0; i < 3; ++i) {
        ensemble_.stop_server(i);
    }
    client c = ensemble_.connect({.session_timeout = 12s});
    leader_story story;
    leader_latch latch(c, path);
    const subscription told = latch.subscribe(story.teller());
    latch.start();
    bool waited = false;
    leadership led;
    latch.async_wait(60s, {}, [&](std::error_code ec, leadership term) {
        EXPECT_FALSE(ec);
        led = std::move(term);
        waited = true;
    });
    bool timed_out = false;
    latch.async_wait(
        5s, {}, [&](std::error_code ec, const leadership& term) { timed_out = !ec && !term; });
    ensemble_.run_for(20s);
    EXPECT_TRUE(timed_out);
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
        first.latch->leadership().async_proclaim(std::to_string(i), [](std::error_code) {});
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
    const leadership term = first.latch->leadership();
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
    second.latch->leadership().async_proclaim("", [](std::error_code ec) { EXPECT_FALSE(ec); });
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

// ---- listeners ----

class LeaderListeners : public election {};

TEST_F(LeaderListeners, ThatThrowCostNoOtherCallAndNoElection) {
    candidate& first = add();
    candidate& second = add();
    const auto throwing = [] {
        return leader_latch::listener{.elected = [](const leadership&) { throw 1; },
                                      .lost = [](const leadership&, loss) { throw 2; },
                                      .refused = [](const error&) { throw 3; }};
    };
    const subscription before = first.latch->subscribe(throwing());
    first.latch->start();
    ASSERT_TRUE(leads(first));
    const subscription after = first.latch->subscribe(throwing());
    second.latch->start();
    run_for(1s);
    first.latch->resign();
    ASSERT_TRUE(leads(second));
    run_for(1s);
    expect_pairs(first);
    EXPECT_EQ(first.story.told().size(), 2U);
    by_force([&] { ensemble_.expire(second.id()); });
    run_for(1s);
    ASSERT_TRUE(leads(first));
}

TEST_F(LeaderListeners, MayResignProclaimCloseAndSubscribe) {
    candidate& c = add();
    std::vector<std::string> told;
    std::vector<subscription> more;
    int terms = 0;
    const subscription s = c.latch->subscribe(
        {.elected =
             [&](const leadership& term) {
                 told.emplace_back("elected");
                 term.async_proclaim("x", [&](std::error_code ec) {
                     told.emplace_back(ec ? "not proclaimed" : "proclaimed");
                     if (++terms == 3) {
                         c.latch->close(leader_latch::closing::notifying);
                     } else {
                         c.latch->resign();
                     }
                 });
                 more.push_back(c.latch->subscribe(
                     {.elected = {},
                      .lost = [&](const leadership&, loss) { told.emplace_back("lost, too"); },
                      .refused = {}}));
             },
         .lost =
             [&](const leadership&, loss) {
                 told.emplace_back("lost");
                 more.clear();
             },
         .refused = {}});
    c.latch->start();
    run_for(5s);
    EXPECT_THAT(told,
                ElementsAre("elected",
                            "proclaimed",
                            "lost",
                            "elected",
                            "proclaimed",
                            "lost",
                            "elected",
                            "proclaimed",
                            "lost"))
        << "a listener that was ended by another one is not called any more";
    EXPECT_TRUE(ensemble_.children(path).empty());
}

TEST_F(LeaderListeners, MayEndTheirOwnSubscription) {
    candidate& c = add();
    int calls = 0;
    auto s = std::make_unique<subscription>();
    *s = c.latch->subscribe({.elected =
                                 [&](const leadership&) {
                                     ++calls;
                                     s.reset();
                                 },
                             .lost = [&](const leadership&, loss) { ++calls; },
                             .refused = {}});
    c.latch->start();
    ASSERT_TRUE(leads(c));
    c.latch->resign();
    run_for(5s);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(c.story.told().size(), 3U);
}

TEST_F(LeaderListeners, HearOfTheStopTokenFirst) {
    candidate& c = leading();
    bool stopped = false;
    bool in_order = false;
    const std::stop_callback on_lost(c.latch->leadership().lost(), [&] { stopped = true; });
    const subscription s = c.latch->subscribe(
        {.elected = {},
         .lost = [&](const leadership& term,
                     loss) { in_order = stopped && !term.valid() && !c.latch->is_leader(); },
         .refused = {}});
    run_for(1s);
    ensemble_.suspend(c.id());
    run_for(30s);
    EXPECT_TRUE(in_order);
}

TEST_F(LeaderListeners, OfACandidateThatClosesTwiceAreToldWhatTheFirstCloseSaid) {
    for (const auto how : {leader_latch::closing::silent, leader_latch::closing::notifying}) {
        candidate& c = leading();
        run_for(1s);
        c.latch->close(how);
        c.latch->close(leader_latch::closing::silent);
        c.latch->close(leader_latch::closing::notifying);
        run_for(1s);
        EXPECT_EQ(c.story.told().size(), how == leader_latch::closing::silent ? 1U : 2U);
        EXPECT_TRUE(ensemble_.children(path).empty());
    }
}

// ---- everything at once ----

class AnyLuck : public election, public ::testing::WithParamInterface<std::uint64_t> {
protected:
    static ensemble::options seeded() {
        ensemble::options o = exact();
        o.seed = GetParam();
        o.jitter = 2ms;
        o.between_servers = 1ms;
        return o;
    }

    AnyLuck() : election(seeded()) {}
};

TEST_P(AnyLuck, LeavesOneLeaderAtATimeGrowingTokensAndPairsAndNobodyForgotten) {
    std::mt19937_64 random(GetParam());
    const auto pick = [&](std::uint64_t n) { return random() % n; };
    for (int i = 0; i < 4; ++i) {
        candidate& c = add({.id = std::to_string(i),
                            .on_suspended = i % 2 == 0 ? suspended_policy::until_deadline
                                                       : suspended_policy::step_down});
        c.latch->start();
    }
    ensemble_.inject({.cut_before = 0.01,
                      .cut_after = 0.01,
                      .interval = 1s,
                      .cut = 0.1,
                      .suspend = 0.05,
                      .pause = 0.05,
                      .stop = 0.03,
                      .isolate = 0.03,
                      .lag = 0.05,
                      .lasting = 20s});
    for (int i = 0; i < 300; ++i) {
        run_for(std::chrono::milliseconds(pick(1500)));
        for (candidate& c : candidates_) {
            if (!c.latch->is_leader() || pick(3) != 0) {
                continue;
            }
            if (pick(2) == 0) {
                c.latch->resign();
            } else {
                c.latch->leadership().async_proclaim(std::to_string(i), [](std::error_code) {});
            }
        }
    }
    ensemble_.inject({});
    run_for(60s);
    ASSERT_TRUE(somebody_leads());
    expect_in_order(*leader());
    std::size_t terms = 0;
    for (const candidate& c : candidates_) {
        expect_pairs(c);
        terms += c.story.count("elected");
    }
    EXPECT_GE(terms, 10U);
    // In turn: nobody is left out.
    for (std::size_t i = 0; i < 2 * candidates_.size(); ++i) {
        const candidate* const last = leader();
        last->latch->resign();
        ASSERT_TRUE(run_until([&] { return leader() != nullptr && leader() != last; }, 60s));
        run_for(1s);
    }
}

INSTANTIATE_TEST_SUITE_P(Seed, AnyLuck, ::testing::Range<std::uint64_t>(1, 21));

}  // namespace
}  // namespace latchkey::test

// Leadership that is handed over, and what becomes of that when something goes wrong on the way.
#include "election.hpp"
#include "leader_letter.hpp"
#include "stepped_outcome.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using when = ensemble::when;
using op = ensemble::operation;
using result = leader_latch::transfer;

class election_with_transfers : public election {
protected:
    using election::election;

    static leader_options taking_part(std::string id, int priority = 0) {
        return {.id = std::move(id),
                .preference = leader_preference{
                    .priority = priority, .hysteresis = 10s, .cool_down = 60s, .drain = 5s}};
    }

    /// What a transfer came to; nothing yet.
    using pending = std::shared_ptr<std::optional<result>>;

    static pending transfer(candidate& from, const std::string& to) {
        auto p = std::make_shared<std::optional<result>>();
        from.latch->async_transfer_to(
            to, std::chrono::nanoseconds::max(), [p](std::error_code, result r) { *p = r; });
        return p;
    }

    std::optional<result> told(const pending& p) {
        run_until([&] { return p->has_value(); }, 60s);
        return *p;
    }

    /// As many that take part, called "0", "1" and so on; the first leads.
    std::vector<candidate*> queue_of(int size, int priority = 0) {
        std::vector<candidate*> all;
        for (int i = 0; i < size; ++i) {
            const auto o = taking_part(std::to_string(i), priority);
            all.push_back(i == 0 ? &leading(o) : &following(o));
        }
        return all;
    }

    std::size_t mailboxes() const { return ensemble_.children(peers_of(path)).size(); }
};

class LeaderTransfer : public election_with_transfers {};

TEST_F(LeaderTransfer, SuccessorLeadsAsSoonAsTheLeaderHasFinishedAheadOfAllOthers) {
    const auto all = queue_of(5);
    const auto t = transfer(*all[0], "3");
    ASSERT_EQ(told(t), result::accepted);
    const leadership term = all[0]->latch->leadership();
    ASSERT_TRUE(run_until([&] { return term.hand_over_requested().stop_requested(); }, 1s));
    EXPECT_TRUE(term.valid()) << "it has time to finish";
    EXPECT_TRUE(run_until([&] { return all[3]->story.count("chosen") == 1; }, 1s));
    run_for(1s);
    EXPECT_TRUE(term.valid());
    const auto before = ensemble_.now();
    all[0]->latch->resign();
    ASSERT_TRUE(leads(*all[3]));
    EXPECT_LE(ensemble_.now() - before, 4 * round_trip) << "no timeout was waited for";
    EXPECT_GT(all[3]->latch->leadership().fencing_token(), term.fencing_token());
    run_for(1s);
    for (const candidate* c : all) {
        EXPECT_EQ(c->story.count("elected"), c == all[0] || c == all[3] ? 1U : 0U);
    }
    expect_in_order(*all[3]);
    EXPECT_EQ(mailboxes(), all.size());
    for (const int next : {1, 2, 4, 0, 3}) {
        const_cast<candidate*>(leader())->latch->resign();
        ASSERT_TRUE(leads(*all[std::size_t(next)])) << "the old leader is at the tail";
    }
}

TEST_F(LeaderTransfer, IsAFewRoundTrips) {
    const auto all = queue_of(3);
    settle();
    const auto before = ensemble_.now();
    const auto t = transfer(*all[0], "2");
    ASSERT_EQ(told(t), result::accepted);
    // Lists, ids, the mailbox, the offer; then the candidate's read, its move, and our list.
    EXPECT_LE(ensemble_.now() - before, 8 * round_trip);
}

TEST_F(LeaderTransfer, LeaderThatDoesNotFinishIsResignedAfterItsTime) {
    const auto all = queue_of(2);
    ASSERT_EQ(told(transfer(*all[0], "1")), result::accepted);
    const auto before = ensemble_.now();
    ASSERT_TRUE(leads(*all[1]));
    EXPECT_GE(ensemble_.now() - before, 4s);
    EXPECT_LE(ensemble_.now() - before, 6s);
    EXPECT_EQ(all[0]->story.count(leader_story::lost(loss::resigned)), 1U);
    expect_in_order(*all[1]);
}

TEST_F(LeaderTransfer, CanBeClosedIntoInsteadOfResigned) {
    const auto all = queue_of(3);
    ASSERT_EQ(told(transfer(*all[0], "2")), result::accepted);
    all[0]->latch.reset();
    ASSERT_TRUE(leads(*all[2]));
    expect_in_order(*all[2]);
    EXPECT_EQ(record()->id, "2");
}

TEST_F(LeaderTransfer, IsToNobodyWhoIsNotThereOrTakesNoPartOrIsTheLeader) {
    candidate& a = leading(taking_part("a"));
    candidate& b = following({.id = "b"});
    EXPECT_EQ(told(transfer(a, "b")), result::no_candidate);
    EXPECT_EQ(told(transfer(a, "c")), result::no_candidate);
    EXPECT_EQ(told(transfer(a, "a")), result::no_candidate);
    candidate& c = following(taking_part("c"));
    EXPECT_EQ(told(transfer(c, "a")), result::not_leading);
    EXPECT_THROW(transfer(b, "a"), error);
    run_for(30s);
    EXPECT_TRUE(a.latch->is_leader());
    EXPECT_FALSE(a.latch->leadership().hand_over_requested().stop_requested());
}

TEST_F(LeaderTransfer, CandidatesThatKnowNothingOfItAreLeftBehindAndLeadLater) {
    candidate& a = leading(taking_part("a"));
    candidate& plain = following({.id = "plain"});
    candidate& last = following({.id = "last"});
    candidate& b = following(taking_part("b"));
    EXPECT_EQ(mailboxes(), 2U);
    ASSERT_EQ(told(transfer(a, "b")), result::accepted);
    a.latch->resign();
    ASSERT_TRUE(leads(b));
    EXPECT_EQ(plain.story.count("elected"), 0U);
    expect_in_order(b);
    b.latch.reset();
    ASSERT_TRUE(leads(plain));
    expect_in_order(plain);
    plain.latch.reset();
    ASSERT_TRUE(leads(last));
    EXPECT_EQ(told(transfer(a, "last")), result::not_leading);
}

TEST_F(LeaderTransfer, OneAfterTheOther) {
    const auto all = queue_of(4);
    const auto first = transfer(*all[0], "nobody");
    const auto second = transfer(*all[0], "2");
    const auto third = transfer(*all[0], "3");
    EXPECT_EQ(told(first), result::no_candidate);
    EXPECT_EQ(told(second), result::accepted);
    all[0]->latch->resign();
    EXPECT_EQ(told(third), result::not_leading);
    ASSERT_TRUE(leads(*all[2]));
    expect_in_order(*all[2]);
}

TEST_F(LeaderTransfer, WakesTheSuccessorAndTheFollowerAmongMany) {
    const auto all = queue_of(20);
    ASSERT_EQ(told(transfer(*all[0], "12")), result::accepted);
    run_for(1s);
    settle();
    all[0]->latch->resign();
    ASSERT_TRUE(leads(*all[12]));
    run_for(1s);
    std::vector<int> woken;
    for (int i = 1; i < 20; ++i) {
        const auto c = ensemble_.count(all[std::size_t(i)]->id());
        if (c.watch_events > 0 && i != 12) {
            woken.push_back(i);
        }
    }
    EXPECT_THAT(woken, ElementsAre(1)) << "besides the successor";
}

TEST_F(LeaderTransfer, AndBackAgainManyTimes) {
    const auto all = queue_of(3);
    for (int round = 0; round < 10; ++round) {
        const int from = round % 2 == 0 ? 0 : 2;
        candidate& leader = *all[std::size_t(from)];
        ASSERT_TRUE(leader.latch->is_leader());
        ASSERT_EQ(told(transfer(leader, from == 0 ? "2" : "0")), result::accepted);
        leader.latch->resign();
        ASSERT_TRUE(leads(*all[from == 0 ? 2 : 0]));
        run_for(1s);
    }
    EXPECT_EQ(all[1]->story.count("elected"), 0U);
    expect_in_order(*all[0]);
    EXPECT_EQ(mailboxes(), 3U);
}

TEST_F(LeaderTransfer, OneThatDoesNotAnswerCostsNothing) {
    const auto all = queue_of(3);
    ensemble_.black_hole(all[2]->id());
    const auto before = ensemble_.now();
    ASSERT_EQ(told(transfer(*all[0], "2")), result::not_accepted);
    EXPECT_LE(ensemble_.now() - before, 2s + 100ms) << "a sixth of the session timeout";
    EXPECT_TRUE(all[0]->latch->is_leader());
    EXPECT_FALSE(all[0]->latch->leadership().hand_over_requested().stop_requested());
    ensemble_.resume(all[2]->id());
    run_for(10s);
    EXPECT_TRUE(all[0]->latch->is_leader()) << "the offer was withdrawn";
    EXPECT_EQ(all[2]->story.count("chosen"), 0U);
    ASSERT_EQ(told(transfer(*all[0], "2")), result::accepted) << "another one is not";
    all[0]->latch->resign();
    ASSERT_TRUE(leads(*all[2]));
    expect_in_order(*all[2]);
}

TEST_F(LeaderTransfer, SuccessorLeadsWhenTheLeaderDiesInsteadOfFinishing) {
    const auto all = queue_of(3);
    ASSERT_EQ(told(transfer(*all[0], "2")), result::accepted);
    by_force([&] { ensemble_.expire(all[0]->id()); });
    ASSERT_TRUE(leads(*all[2]));
    EXPECT_EQ(all[1]->story.count("elected"), 0U);
    expect_in_order(*all[2]);
}

TEST_F(LeaderTransfer, NextInTheQueueLeadsWhenTheSuccessorDies) {
    const auto all = queue_of(3);
    ASSERT_EQ(told(transfer(*all[0], "2")), result::accepted);
    ensemble_.expire(all[2]->id());
    run_for(1s);
    EXPECT_TRUE(all[0]->latch->is_leader());
    all[0]->latch->resign();
    ASSERT_TRUE(leads(*all[1]));
    expect_in_order(*all[1]);
}

TEST_F(LeaderTransfer, SuccessorMayThinkBetterOfIt) {
    const auto all = queue_of(3);
    ASSERT_EQ(told(transfer(*all[0], "2")), result::accepted);
    all[2]->latch.reset();
    all[0]->latch->resign();
    ASSERT_TRUE(leads(*all[1]));
    expect_in_order(*all[1]);
}

// ---- asked for by others ----

class LeaderIsAsked : public election_with_transfers {
protected:
    /// As leader_latch::request_resignation() does, which blocks.
    void ask(const candidate& whom, const std::string& to = {}) {
        const std::string znode = whom.latch->leadership().path();
        const auto name = znode.substr(znode.rfind('/') + 1);
        for (const std::string& mailbox : ensemble_.children(peers_of(path))) {
            if (mailbox.ends_with(guid_in(name))) {
                ensemble_.set(peers_of(path) + "/" + mailbox,
                              write_leader_letter({leader_letter::kind::resign, to}));
                return;
            }
        }
        FAIL() << "no mailbox of " << znode;
    }
};

TEST_F(LeaderIsAsked, ToResignAndTheNextOneLeads) {
    const auto all = queue_of(3);
    run_for(1s);
    ask(*all[0]);
    const leadership term = all[0]->latch->leadership();
    ASSERT_TRUE(run_until([&] { return term.hand_over_requested().stop_requested(); }, 1s));
    EXPECT_TRUE(term.valid());
    all[0]->latch->resign();
    ASSERT_TRUE(leads(*all[1]));
    expect_in_order(*all[1]);
}

TEST_F(LeaderIsAsked, ToHandOverToOneOfThem) {
    const auto all = queue_of(3);
    run_for(1s);
    ask(*all[0], "2");
    ASSERT_TRUE(leads(*all[2])) << "at the latest when the time to finish is over";
    EXPECT_EQ(all[1]->story.count("elected"), 0U);
    expect_in_order(*all[2]);
}

TEST_F(LeaderIsAsked, ToHandOverToNobodyAndLeadsOn) {
    const auto all = queue_of(2);
    run_for(1s);
    ask(*all[0], "who?");
    run_for(30s);
    EXPECT_TRUE(all[0]->latch->is_leader());
    EXPECT_FALSE(all[0]->latch->leadership().hand_over_requested().stop_requested());
    expect_in_order(*all[0]);
}

TEST_F(LeaderIsAsked, NonsenseAndDoesNothing) {
    const auto all = queue_of(3);
    run_for(1s);
    for (const std::string& mailbox : ensemble_.children(peers_of(path))) {
        const std::string at = peers_of(path) + "/" + mailbox;
        for (const std::string& data :
             {std::string("x"),
              std::string(
                  R"({"offer":"_c_00000000-0000-0000-0000-000000000000-latch-0000000000"})"),
              std::string(
                  R"({"offer":"_c_00000000-0000-0000-0000-000000000000-latch-0000009999"})")}) {
            ensemble_.set(at, data);
            run_for(1s);
        }
    }
    EXPECT_TRUE(all[0]->latch->is_leader());
    expect_in_order(*all[0]);
    ASSERT_EQ(told(transfer(*all[0], "2")), result::accepted);
    ASSERT_TRUE(leads(*all[2]));
    expect_in_order(*all[2]);
}

// ---- priorities ----

class PreferredLeader : public election_with_transfers {};

TEST_F(PreferredLeader, TakesOverWhenItHasBeenThereLongEnough) {
    candidate& plain = leading(taking_part("plain"));
    candidate& best = following(taking_part("best", 5));
    run_for(9s);
    EXPECT_TRUE(plain.latch->is_leader());
    EXPECT_FALSE(plain.latch->leadership().hand_over_requested().stop_requested());
    const leadership term = plain.latch->leadership();
    ASSERT_TRUE(run_until([&] { return term.hand_over_requested().stop_requested(); }, 3s));
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
    EXPECT_FALSE(all[0]->latch->leadership().hand_over_requested().stop_requested());
}

TEST_F(PreferredLeader, IsTheBestOfAll) {
    candidate& a = leading(taking_part("a", -1));
    candidate& b = following(taking_part("b", 3));
    candidate& c = following(taking_part("c", 7));
    candidate& d = following(taking_part("d", 7));
    ASSERT_TRUE(leads(c, 60s));
    run_for(300s);
    EXPECT_TRUE(c.latch->is_leader());
    for (const candidate* other : {&b, &d}) {
        EXPECT_LE(other->story.count("elected"), 1U);
    }
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

TEST_F(PreferredLeader, IsOfferedTheLeadershipBeforeTheNextOneBeginsIt) {
    candidate& first = leading(taking_part("first", 5));
    candidate& second = following(taking_part("second", 1));
    candidate& third = following(taking_part("third", 5));
    run_for(1s);
    first.latch->resign();
    ASSERT_TRUE(leads(third)) << "it is better than the second";
    EXPECT_EQ(second.story.count("elected"), 0U) << "which did not begin";
    expect_in_order(third);
    run_for(12s);
    third.latch.reset();
    ASSERT_TRUE(leads(first)) << "who has resigned is preferred again after a while";
    EXPECT_EQ(second.story.count("elected"), 0U);
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
        EXPECT_FALSE(plain.latch->leadership().hand_over_requested().stop_requested());
        ASSERT_TRUE(leads(best, 30s)) << "then it is preferred again";
        run_for(1s);
    }
    EXPECT_EQ(plain.story.count("elected"), 2U);
    expect_in_order(best);
}

TEST_F(PreferredLeader, ThatHasFailedAndComesBackAsAnotherProcessCoolsDownToo) {
    std::optional<candidate*> crashed = &leading(taking_part("best", 5));
    candidate& plain = following(taking_part("plain"));
    run_for(1s);
    by_force([&] {
        ensemble_.expire((*crashed)->id());
        (*crashed)->latch.reset();
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
    candidate& a = leading(taking_part("same"));
    candidate& b = following(taking_part("same", 5));
    static_cast<void>(a);
    ASSERT_TRUE(leads(b, 20s));
}

// ---- what is lost ----

/// A connection that breaks at a request of one of the two, before a server acts on it and after.
class LostInATransfer
    : public election_with_transfers,
      public ::testing::WithParamInterface<std::tuple<op, when, int, std::size_t>> {};

TEST_P(LostInATransfer, OneOfThemLeadsInTheEndAndAllIsInOrder) {
    const auto& [what, w, times, whose] = GetParam();
    const auto all = queue_of(3);
    run_for(1s);
    ensemble_.fail_next(what, w, all[whose]->id(), times);
    const auto t = transfer(*all[0], "2");
    const auto r = told(t);
    ASSERT_TRUE(r);
    run_for(1s);
    if (r == result::accepted) {
        EXPECT_EQ(all[2]->story.count("chosen"), 1U);
    } else {
        EXPECT_EQ(r, result::not_accepted);
        EXPECT_TRUE(all[0]->latch->is_leader());
        run_for(30s);
        EXPECT_TRUE(all[0]->latch->is_leader()) << "nobody succeeds it for that";
    }
    all[0]->latch->resign();
    ASSERT_TRUE(leads(*all[r == result::accepted ? 2 : 1]));
    expect_in_order(*leader());
    EXPECT_EQ(mailboxes(), 3U);
    for (const candidate* c : all) {
        expect_pairs(*c);
    }
}

std::string name_of_loss(
    const ::testing::TestParamInfo<std::tuple<op, when, int, std::size_t>>& p) {
    const auto& [what, w, times, whose] = p.param;
    const std::string name = what == op::create     ? "Create"
                             : what == op::children ? "List"
                             : what == op::get      ? "Get"
                             : what == op::multi    ? "Multi"
                                                    : "Remove";
    return name + (w == when::before ? "NotApplied" : "Applied") + std::to_string(times) +
           (whose == 0 ? "Leader" : "Successor");
}

INSTANTIATE_TEST_SUITE_P(
    Request,
    LostInATransfer,
    ::testing::Combine(::testing::Values(op::create, op::children, op::get, op::multi, op::remove),
                       ::testing::Values(when::before, when::after),
                       ::testing::Values(1, 3),
                       ::testing::Values(0U, 2U)),
    name_of_loss);

/// Something happens a little later each time, while the first of three hands over to the last.
class AtAnyMomentOfATransfer : public election_with_transfers {
protected:
    template <class F>
    void at_each(F happens) {
        for (int moment = 0; moment < 30; ++moment) {
            SCOPED_TRACE("after " + std::to_string(moment) + " halves of a way");
            const auto all = queue_of(3);
            const auto t = transfer(*all[0], "2");
            for (int i = 0; i < moment; ++i) {
                run_for(one_way / 2);
                if (i == 18) {
                    all[0]->latch->resign();
                }
            }
            by_force([&] { happens(*all[0], *all[2]); });
            run_for(1s);
            ASSERT_TRUE(somebody_leads());
            ASSERT_TRUE(told(t)) << "it is told";
            run_for(40s);  // who has failed, and leads all the same, hands over after a while
            ASSERT_TRUE(somebody_leads());
            for (const candidate* c : all) {
                expect_pairs(*c);
            }
            run_until([&] { return mailboxes() == 3; }, 10s);
            expect_in_order(*leader());
            EXPECT_EQ(mailboxes(), 3U);
            candidates_.clear();
            ASSERT_TRUE(ensemble_.run_until(
                [&] { return ensemble_.children(path).empty() && mailboxes() == 0; }, 60s));
            ensemble_.set(path, "");
        }
    }
};

TEST_F(AtAnyMomentOfATransfer, TheLeadersSessionMayEnd) {
    at_each([&](candidate& from, candidate&) { ensemble_.expire(from.id()); });
}

TEST_F(AtAnyMomentOfATransfer, TheSuccessorsSessionMayEnd) {
    at_each([&](candidate&, candidate& to) { ensemble_.expire(to.id()); });
}

TEST_F(AtAnyMomentOfATransfer, TheirConnectionsMayBreak) {
    at_each([&](candidate& from, candidate& to) {
        ensemble_.cut(from.id());
        ensemble_.cut(to.id());
    });
}

TEST_F(AtAnyMomentOfATransfer, TheSuccessorMayHearNothingForAWhile) {
    at_each([&](candidate&, candidate& to) {
        ensemble_.black_hole(to.id());
        run_for(3s);
        ensemble_.resume(to.id());
    });
}

TEST_F(AtAnyMomentOfATransfer, TheLeaderMayHearNothingForAWhile) {
    at_each([&](candidate& from, candidate&) {
        ensemble_.black_hole(from.id());
        run_for(3s);
        ensemble_.resume(from.id());
    });
}

TEST_F(AtAnyMomentOfATransfer, TheLeadingServerMayBeKilled) {
    at_each([&](candidate&, candidate&) {
        const int killed = ensemble_.leader();
        ensemble_.stop_server(killed);
        run_for(1s);
        ensemble_.start_server(killed);
    });
}

TEST_F(AtAnyMomentOfATransfer, AnOperatorMayDeleteTheMailboxes) {
    at_each([&](candidate&, candidate&) {
        for (const std::string& name : ensemble_.children(peers_of(path))) {
            ensemble_.remove(peers_of(path) + "/" + name);
        }
    });
}

TEST_F(AtAnyMomentOfATransfer, TheSuccessorMayBeDestroyed) {
    at_each([&](candidate&, candidate& to) {
        to.latch = std::make_unique<leader_latch>(to.session, path, taking_part("2"));
        to.told = to.latch->subscribe(to.story.teller());
        to.latch->start();
    });
}

// ---- whatever happens ----

/// Transfers, resignations, priorities and faults at random; election looks at every step. A seed
/// that fails is printed, and LATCHKEY_SEED replays it.
class RandomTransfers : public election_with_transfers,
                        public ::testing::WithParamInterface<unsigned> {};

TEST_P(RandomTransfers, NeverMakeTwoLeadersAndLeaveNobodyBehind) {
    const char* const given = std::getenv("LATCHKEY_SEED");
    const auto seed = given != nullptr ? unsigned(std::strtoul(given, nullptr, 10)) : GetParam();
    SCOPED_TRACE("LATCHKEY_SEED=" + std::to_string(seed));
    std::minstd_rand random(seed);
    const auto up_to = [&](unsigned n) { return unsigned(random() % n); };
    std::vector<candidate*> all;
    for (unsigned i = 0; i < 5; ++i) {
        auto o = taking_part(std::to_string(i), int(up_to(3)));
        if (i == 4) {
            o.preference.reset();
        } else {
            o.preference->hysteresis = 1s;
            o.preference->cool_down = 3s;
            o.preference->drain = std::chrono::milliseconds(up_to(300));
        }
        all.push_back(&add(o));
        all.back()->latch->start();
        run_for(std::chrono::microseconds(up_to(4000)));
    }
    for (int round = 0; round < 150; ++round) {
        candidate& one = *all[up_to(5)];
        candidate* const leads = const_cast<candidate*>(leader());
        switch (up_to(9)) {
            case 0:
            case 1:
            case 2:
                if (leads != nullptr && leads != all[4]) {
                    transfer(*leads, std::to_string(up_to(6)));
                }
                break;
            case 3:
                one.latch->resign();
                break;
            case 4:
                ensemble_.cut(one.id());
                break;
            case 5:
                by_force([&] { ensemble_.expire(one.id()); });
                run_for(1s);  // who does not hear of it believes what no server would let it
                break;
            case 6:
                ensemble_.fail_next(up_to(2) == 0 ? op::multi : op::get,
                                    up_to(2) == 0 ? when::before : when::after,
                                    one.id(),
                                    1 + int(up_to(2)));
                break;
            case 7:
                ensemble_.black_hole(one.id());
                run_for(std::chrono::milliseconds(up_to(4000)));
                ensemble_.resume(one.id());
                break;
            default:
                run_for(std::chrono::milliseconds(up_to(3000)));
        }
        run_for(std::chrono::microseconds(up_to(up_to(2) == 0 ? 5'000 : 200'000)));
    }
    run_for(20s);
    ASSERT_TRUE(somebody_leads());
    // Nobody is forgotten: each leads, when those ahead of it have gone.
    for (std::size_t gone = 0; gone < all.size(); ++gone) {
        ASSERT_TRUE(somebody_leads());
        run_for(1s);
        ASSERT_TRUE(somebody_leads());
        expect_in_order(*leader());
        const_cast<candidate*>(leader())->latch.reset();
    }
    run_for(5s);
    EXPECT_TRUE(ensemble_.children(path).empty());
    EXPECT_EQ(mailboxes(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Seed, RandomTransfers, ::testing::Range(1U, 21U));

}  // namespace
}  // namespace latchkey::test

// What becomes of a transfer when something goes wrong on the way.
#include "election_with_transfers.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace latchkey::test {
namespace {

using when = ensemble::when;
using op = ensemble::request_kind;
using result = leader_latch::transfer;

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

/// A write of one of the two that ends without its outcome, on a connection that stays.
class UnknownInATransfer
    : public election_with_transfers,
      public ::testing::WithParamInterface<std::tuple<int, when, std::size_t>> {};

TEST_P(UnknownInATransfer, IsFoundOutAndTheSuccessorLeads) {
    const auto& [code, w, whose] = GetParam();
    const auto all = queue_of(3);
    run_for(1s);
    ensemble_.refuse_next(op::multi, code, all[whose]->id(), 1, w);
    ASSERT_EQ(told(transfer(*all[0], "2")), result::accepted);
    all[0]->latch->resign();
    ASSERT_TRUE(leads(*all[2]));
    EXPECT_EQ(all[1]->story.count("elected"), 0U);
    expect_in_order(*all[2]);
    EXPECT_EQ(mailboxes(), 3U);
}

INSTANTIATE_TEST_SUITE_P(Outcome,
                         UnknownInATransfer,
                         ::testing::Combine(::testing::Values(-4, -7, -2),
                                            ::testing::Values(when::before, when::after),
                                            ::testing::Values(0U, 2U)),
                         [](const auto& p) {
                             return "Code" + std::to_string(-std::get<0>(p.param)) +
                                    (std::get<1>(p.param) == when::after ? "Applied"
                                                                         : "NotApplied") +
                                    (std::get<2>(p.param) == 0 ? "Leader" : "Successor");
                         });

/// Something happens a little later each time, while the first of three hands over to the last.
class AtAnyMomentOfATransfer : public election_with_transfers {
protected:
    struct handing_over {
        std::vector<candidate*> all;
        pending told;
    };

    template <class F>
    void at_each(F happens) {
        const int rounds = at_every_moment(
            15ms,
            [&] {
                handing_over t{queue_of(3), nullptr};
                t.told = transfer(*t.all[0], "2");
                at(ensemble_.now() + 9ms, [from = t.all[0]] { from->latch->resign(); });
                return t;
            },
            [&](handing_over& t) { by_force([&] { happens(*t.all[0], *t.all[2]); }); },
            [&](handing_over& t) {
                run_for(1s);
                ASSERT_TRUE(somebody_leads());
                ASSERT_TRUE(told(t.told)) << "it is told";
                run_for(40s);  // who has failed, and leads all the same, hands over after a while
                ASSERT_TRUE(somebody_leads());
                for (const candidate* c : t.all) {
                    expect_pairs(*c);
                }
                run_until([&] { return mailboxes() == 3; }, 10s);
                expect_in_order(*leader());
                EXPECT_EQ(mailboxes(), 3U);
                candidates_.clear();
                EXPECT_TRUE(run_until([&] { return mailboxes() == 0; }, 60s));
            });
        EXPECT_GT(rounds, 60);
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
        to.told = to.latch->on_change(to.story.teller());
        to.latch->start();
    });
}

// ---- what ends with the leader ----

class TransferWithoutAnEnd : public election_with_transfers {
protected:
    /// The first of two, which has offered the leadership to the other one, and hears nothing of
    /// it. Of what its client is used for, the offer is told first what becomes of the session: it
    /// has got the place of somebody who has left.
    candidate& offering() {
        candidate& from = add(taking_part("a"));
        leader_latch before(from.session, "/other");
        before.start();
        EXPECT_TRUE(run_until([&] { return before.is_leader(); }, 10s));
        from.latch->start();
        EXPECT_TRUE(leads(from));
        candidate& to = following(taking_part("b"));
        run_for(1s);
        ensemble_.black_hole(to.id());
        told_ = transfer(from, "b");
        run_for(20 * one_way);
        before.close();
        run_for(20 * one_way);
        EXPECT_FALSE(told_->has_value());
        return from;
    }

    pending told_;
};

TEST_F(TransferWithoutAnEnd, IsNotToldToHaveFailedToOneWhoseClientIsClosed) {
    offering().session.close();
    EXPECT_EQ(told(told_), result::not_leading) << "it may yet be accepted";
}

TEST_F(TransferWithoutAnEnd, IsNotToldToHaveFailedToOneWhoseSessionEnds) {
    const auto session = offering().id();
    by_force([&] { ensemble_.expire(session); });
    EXPECT_EQ(told(told_), result::not_leading) << "it may yet be accepted";
}

}  // namespace
}  // namespace latchkey::test

// What becomes of a transfer when something goes wrong on the way, and of what candidates write to
// each other, when it comes at a bad moment, or is gone before it is read.
#include "client/client_core.hpp"
#include "election_with_transfers.hpp"
#include "request_faults.hpp"
#include "znode/guarded_write.hpp"

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
    const auto r = told(transfer(*all[0], "2"));
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
    expect_leads(*all[r == result::accepted ? 2 : 1]);
    EXPECT_EQ(mailboxes(), 3U);
    for (const candidate* c : all) {
        expect_pairs(*c);
    }
}

std::string name_of_loss(const ::testing::TestParamInfo<LostInATransfer::ParamType>& p) {
    const auto& [what, w, times, whose] = p.param;
    return name_of(what) + request_fault{w}.name() + std::to_string(times) +
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
class UnknownInATransfer : public election_with_transfers,
                           public ::testing::WithParamInterface<request_fault> {};

TEST_P(UnknownInATransfer, IsFoundOutAndTheSuccessorLeads) {
    for (const std::size_t whose : {0U, 2U}) {
        const auto all = queue_of(3);
        run_for(1s);
        GetParam().meet(ensemble_, op::multi, all[whose]->id());
        ASSERT_EQ(told(transfer(*all[0], "2")), result::accepted) << whose;
        all[0]->latch->resign();
        expect_leads(*all[2]);
        EXPECT_EQ(all[1]->story.count("elected"), 0U) << whose;
        EXPECT_EQ(mailboxes(), 3U);
        candidates_.clear();
        EXPECT_TRUE(run_until([&] { return mailboxes() == 0; }));
    }
}

INSTANTIATE_TEST_SUITE_P(Outcome,
                         UnknownInATransfer,
                         ::testing::Values(request_fault{when::before, -4, false},
                                           request_fault{when::after, -4, false},
                                           request_fault{when::before, -7, false},
                                           request_fault{when::after, -7, false},
                                           request_fault{when::before, -2, false},
                                           request_fault{when::after, -2, false}),
                         named);

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

// ---- who is asked for twice ----

class LeaderThatIsAskedWhileItOffers : public election_with_transfers {
protected:
    /// The first of three, which has offered the leadership to the last one, which sleeps, and has
    /// been asked to hand over to whoever is next.
    std::vector<candidate*> asked() {
        auto all = queue_of(3);
        run_for(1s);
        ensemble_.pause(all[2]->id());
        offer_ = transfer(*all[0], "2");
        run_for(1s);
        ask(*all[0]);
        asked_at_ = ensemble_.now();
        EXPECT_TRUE(run_until([&] { return is_to_hand_over(*all[0]); }, 1s));
        return all;
    }

    /// The drain time later, since the leader does not finish.
    void expect_that_it_takes_over_in_time(const candidate& c) {
        ASSERT_TRUE(leads(c));
        EXPECT_GE(ensemble_.now() - asked_at_, 5s - 1s);
        EXPECT_LE(ensemble_.now() - asked_at_, 5s + 100ms);
        expect_leads(c);
    }

    pending offer_;
    ensemble::duration asked_at_{};
};

TEST_F(LeaderThatIsAskedWhileItOffers, HasItsTimeOnceThoughTheOfferIsAccepted) {
    const auto all = asked();
    run_for(500ms);
    ensemble_.resume(all[2]->id());
    ASSERT_EQ(told(offer_), result::accepted);
    expect_that_it_takes_over_in_time(*all[2]);
}

TEST_F(LeaderThatIsAskedWhileItOffers, HandsOverThoughTheOfferIsNotAccepted) {
    const auto all = asked();
    ASSERT_EQ(told(offer_), result::not_accepted);
    EXPECT_EQ(told(transfer(*all[0], "1")), result::not_leading) << "it hands over already";
    ensemble_.resume(all[2]->id());
    expect_that_it_takes_over_in_time(*all[1]);
}

// ---- mailboxes and places that another client deletes ----

class MailboxThatIsDeleted : public election_with_transfers {
protected:
    /// To candidate "1"; what it writes is lost on the way.
    pending offer_that_is_lost(candidate& from) {
        run_for(1s);
        ensemble_.fail_next(op::multi, when::before, from.id());
        auto offer = transfer(from, "1");
        EXPECT_TRUE(run_until([&] { return ensemble_.faults_to_come() == 0; }, 1s));
        return offer;
    }
};

TEST_F(MailboxThatIsDeleted, IsReadAlsoIfTheNextMessageHasTheVersionOfTheLast) {
    const auto all = queue_of(2);
    run_for(1s);
    ask(*all[0], "nobody");
    run_for(1s);
    const leadership term = all[0]->latch->term();
    // It is there again, and its candidate has not read it yet.
    ensemble_.fail_next(op::get, when::before, all[0]->id());
    ensemble_.remove(mailbox_of(term.path()));
    ASSERT_TRUE(run_until([&] { return !mailbox_of(term.path()).empty(); }, 10s));
    ask(*all[0]);
    EXPECT_TRUE(run_until([&] { return is_to_hand_over(term); }, 5s));
}

// One that is made again begins with the versions of the one before.
TEST_F(MailboxThatIsDeleted, IsNotThereAgainWhileItsCandidateMayAcceptWhatWasInIt) {
    const auto all = queue_of(2);
    run_for(1s);
    constexpr int many = 1000;
    ensemble_.refuse_next(op::multi, -127, all[1]->id(), many);
    const auto offer = transfer(*all[0], "1");
    ASSERT_TRUE(run_until([&] { return ensemble_.faults_to_come() < many; }, 1s));
    ensemble_.remove(mailbox_of(znode_of(*all[1])));
    EXPECT_EQ(told(offer), result::not_accepted);
    ensemble_.refuse_next(op::multi, -127, all[1]->id(), 0);
    EXPECT_TRUE(run_until([&] { return mailboxes() == 2; }, 30s)) << "then it is";
    run_for(30s);
    EXPECT_EQ(twins(*all[0]), 1);
}

TEST_F(MailboxThatIsDeleted, MayGetLateWhatWasLostSoThereIsNoOtherOffer) {
    const auto all = queue_of(3);
    const auto offer = offer_that_is_lost(*all[0]);
    ensemble_.black_hole(all[1]->id());
    ensemble_.remove(mailbox_of(znode_of(*all[1])));
    EXPECT_EQ(told(offer), result::not_accepted);
    ensemble_.resume(all[1]->id());
    EXPECT_TRUE(run_until([&] { return mailboxes() == 3; }, 10s));
    EXPECT_EQ(told(transfer(*all[0], "2")), result::not_accepted);
    EXPECT_EQ(twins(*all[0]), 1);
}

TEST_F(MailboxThatIsDeleted, WithItsCandidateIsNoReasonToMakeNoOtherOffer) {
    const auto all = queue_of(3);
    const auto offer = offer_that_is_lost(*all[0]);
    by_force([&] { ensemble_.expire(all[1]->id()); });
    EXPECT_EQ(told(offer), result::not_accepted);
    EXPECT_EQ(told(transfer(*all[0], "2")), result::accepted);
}

class OfferToAPlaceThatIsDeleted : public election_with_transfers {};

// Its candidate comes back at the tail; what was offered to it was another place.
TEST_F(OfferToAPlaceThatIsDeleted, IsNotAcceptedForTheNextPlace) {
    std::vector<candidate*> all;
    at_every_moment(
        15ms,
        [&] {
            all = queue_of(3);
            run_for(1s);
            return transfer(*all[0], "2");
        },
        [&](const pending&) {
            const std::string place = znode_of(*all[2]);
            ensemble_.refuse_next(op::children, -2, all[2]->id(), 1, when::after);
            by_force([&] { ensemble_.remove(place); });
        },
        [&](const pending& t) {
            ASSERT_TRUE(told(t));
            run_for(1s);
            EXPECT_EQ(twins(*all[0]), 1) << "the accepted place was deleted, or none was accepted";
        });
}

// ---- writes ----

class LeaderThatWritesALetter : public election_with_transfers {};

TEST_F(LeaderThatWritesALetter, DoesNotTakeItForWrittenBecauseItWasThereBefore) {
    const auto all = queue_of(2);
    run_for(1s);
    const auto own = all[0]->latch->term().path();
    const std::string letter =
        write_mailbox_message({mailbox_message::kind::withdrawn, own.substr(own.rfind('/') + 1)});
    const auto mailbox = mailbox_of(znode_of(*all[1]));
    ensemble_.set(mailbox, letter);
    const auto before = ensemble_.get(mailbox)->version;
    ensemble_.fail_next(op::multi, when::before, all[0]->id());
    guarded_write write{.own = own, .path = mailbox, .text = [&](std::int32_t) { return letter; }};
    bool written = false;
    running_task writing;
    writing.start(write_guarded(*client_core::of(all[0]->session), write),
                  [&written](const guarded_written& w) {
                      written = w.what == guarded_written::kind::written;
                  });
    ASSERT_TRUE(run_until([&] { return written; }, 10s));
    EXPECT_EQ(ensemble_.get(mailbox)->version, before + 1);
}

}  // namespace
}  // namespace latchkey::test

// What candidates write to each other, when it comes at a bad moment, or is gone before it is read.
#include "client/client_core.hpp"
#include "election_with_transfers.hpp"
#include "znode/guarded_write.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

using when = ensemble::when;
using op = ensemble::request_kind;
using result = leader_latch::transfer;

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
        const leadership term = all[0]->latch->term();
        EXPECT_TRUE(run_until([&] { return term.hand_over_requested().stop_requested(); }, 1s));
        return all;
    }

    pending offer_;
    ensemble::duration asked_at_{};
};

TEST_F(LeaderThatIsAskedWhileItOffers, HasItsTimeOnceThoughTheOfferIsAccepted) {
    const auto all = asked();
    run_for(500ms);
    ensemble_.resume(all[2]->id());
    ASSERT_EQ(told(offer_), result::accepted);
    ASSERT_TRUE(leads(*all[2]));
    EXPECT_LE(ensemble_.now() - asked_at_, 5s + 100ms) << "its drain time";
    expect_in_order(*all[2]);
}

TEST_F(LeaderThatIsAskedWhileItOffers, HandsOverThoughTheOfferIsNotAccepted) {
    const auto all = asked();
    ASSERT_EQ(told(offer_), result::not_accepted);
    EXPECT_EQ(told(transfer(*all[0], "1")), result::not_leading) << "it hands over already";
    ensemble_.resume(all[2]->id());
    ASSERT_TRUE(leads(*all[1]));
    EXPECT_LE(ensemble_.now() - asked_at_, 5s + 100ms);
    expect_in_order(*all[1]);
}

// ---- mailboxes that somebody deletes ----

class MailboxThatIsDeleted : public election_with_transfers {};

TEST_F(MailboxThatIsDeleted, IsReadAlsoIfTheNextLetterHasTheVersionOfTheLast) {
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
    EXPECT_TRUE(run_until([&] { return term.hand_over_requested().stop_requested(); }, 5s));
}

// ---- places that are gone ----

class OfferToAPlaceThatIsDeleted : public election_with_transfers {
protected:
    /// The znodes with the number of the first one's.
    std::ptrdiff_t twins(const candidate& first) const {
        const std::string own = first.latch->term().path();
        const auto names = ensemble_.children(path);
        return std::count_if(names.begin(), names.end(), [&](const std::string& name) {
            return name.ends_with(own.substr(own.rfind('-')));
        });
    }
};

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
    const mailbox_message letter{mailbox_message::kind::withdrawn, own.substr(own.rfind('/') + 1)};
    auto mailboxes = ensemble_.children(peers_of(path));
    std::erase(mailboxes, mailbox_of(own).substr(peers_of(path).size() + 1));
    const auto mailbox = peers_of(path) + "/" + mailboxes.front();
    ensemble_.set(mailbox, write_mailbox_message(letter));
    const auto before = ensemble_.get(mailbox)->version;
    ensemble_.fail_next(op::multi, when::before, all[0]->id());
    guarded_write write{.own = own, .path = mailbox, .text = write_mailbox_message(letter)};
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

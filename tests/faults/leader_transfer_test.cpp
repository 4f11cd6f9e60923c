// Leadership that is handed over, by who has it and to whom it chose, or because somebody asked.
#include "election_with_transfers.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;
using result = leader_latch::transfer;

class LeaderTransfer : public election_with_transfers {};

// ---- how long it takes, and what it costs ----

TEST_F(LeaderTransfer, SuccessorLeadsAsSoonAsTheLeaderHasFinishedAheadOfAllOthers) {
    const auto all = queue_of(5);
    const auto asked = ensemble_.now();
    ASSERT_EQ(told(transfer(*all[0], "3")), result::accepted);
    // Lists, ids, the mailbox, the offer; then the candidate's read, its move, and our list.
    EXPECT_LE(ensemble_.now() - asked, 8 * round_trip);
    const leadership term = all[0]->latch->term();
    ASSERT_TRUE(run_until([&] { return is_to_hand_over(term); }, 1s));
    EXPECT_TRUE(term.valid()) << "it has time to finish";
    EXPECT_TRUE(run_until([&] { return all[3]->story.count("chosen") == 1; }, 1s));
    run_for(1s);
    EXPECT_TRUE(term.valid());
    const auto before = ensemble_.now();
    all[0]->latch->resign();
    ASSERT_TRUE(leads(*all[3]));
    EXPECT_LE(ensemble_.now() - before, 2 * round_trip) << "one of them a mutex would need too";
    EXPECT_GT(all[3]->latch->term().token(), term.token());
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

TEST_F(LeaderTransfer, CostsTheSuccessorAListAndTheRecordBeforeItLeadsAndAWriteAfterIt) {
    const auto all = queue_that_hands_over(3);
    run_for(1s);
    settle();
    all[0]->latch->resign();
    ASSERT_TRUE(leads(*all[2]));
    const auto before = ensemble_.count(all[2]->id());
    EXPECT_EQ(before.children, 1U);
    EXPECT_EQ(before.gets, 1U);
    run_for(1s);
    EXPECT_EQ(ensemble_.count(all[2]->id()).multis, 1U) << "the record";
    EXPECT_EQ(record()->token, all[2]->latch->term().token().zxid);
}

TEST_F(LeaderTransfer, WakesTheSuccessorAndTheFollowerAmongMany) {
    const auto all = queue_of(20);
    ASSERT_EQ(told(transfer(*all[0], "12")), result::accepted);
    run_for(1s);
    settle();
    all[0]->latch->resign();
    ASSERT_TRUE(leads(*all[12]));
    run_for(1s);
    std::vector<std::size_t> woken;
    for (std::size_t i = 1; i < all.size(); ++i) {
        if (ensemble_.count(all[i]->id()).watch_events > 0) {
            woken.push_back(i);
        }
    }
    EXPECT_THAT(woken, ElementsAre(1, 12));
}

// The record names who is the first from the leader's last transaction on. Without that it is
// a write that makes the leader, as ever.
TEST_F(LeaderTransfer, SuccessorTakesItsTokenFromAWriteIfTheRecordDoesNotNameIt) {
    const auto all = queue_that_hands_over(3);
    const auto before = all[0]->latch->term().token();
    ensemble_.set(path, "");
    all[0]->latch->resign();
    ASSERT_TRUE(leads(*all[2]));
    EXPECT_GT(all[2]->latch->term().token(), before);
    EXPECT_EQ(path + "/" + record()->znode, all[2]->latch->term().path())
        << "written before it leads";
    expect_leads(*all[2]);
}

// ---- how a leader that hands over may end ----

TEST_F(LeaderTransfer, SuccessorLeadsWhenTheLeaderDiesInsteadOfFinishing) {
    const auto all = queue_that_hands_over(3);
    by_force([&] { ensemble_.expire(all[0]->id()); });
    expect_leads(*all[2]);
    EXPECT_EQ(all[1]->story.count("elected"), 0U);
}

TEST_F(LeaderTransfer, NextInTheQueueLeadsWhenTheSuccessorDies) {
    const auto all = queue_that_hands_over(3);
    ensemble_.expire(all[2]->id());
    run_for(1s);
    EXPECT_TRUE(all[0]->latch->is_leader());
    all[0]->latch->resign();
    expect_leads(*all[1]);
}

TEST_F(LeaderTransfer, SuccessorMayThinkBetterOfIt) {
    const auto all = queue_that_hands_over(3);
    all[2]->latch.reset();
    all[0]->latch->resign();
    expect_leads(*all[1]);
}

// ---- to whom, and how often ----

TEST_F(LeaderTransfer, IsToNobodyWhoIsNotThereOrTakesNoPartOrIsTheLeader) {
    candidate& a = leading(taking_part("a"));
    candidate& b = following({.id = "b"});
    for (const char* whom : {"a", "b", "c"}) {
        EXPECT_EQ(told(transfer(a, whom)), result::no_candidate) << whom;
    }
    candidate& c = following(taking_part("c"));
    EXPECT_EQ(told(transfer(c, "a")), result::not_leading);
    EXPECT_THROW(transfer(b, "a"), error);
    run_for(30s);
    EXPECT_TRUE(a.latch->is_leader());
    EXPECT_FALSE(is_to_hand_over(a));
}

TEST_F(LeaderTransfer, CandidatesThatKnowNothingOfItAreLeftBehindAndLeadLater) {
    candidate& a = leading(taking_part("a"));
    candidate& plain = following({.id = "plain"});
    candidate& last = following({.id = "last"});
    candidate& b = following(taking_part("b"));
    EXPECT_EQ(mailboxes(), 2U);
    ASSERT_EQ(told(transfer(a, "b")), result::accepted);
    a.latch->resign();
    expect_leads(b);
    EXPECT_EQ(plain.story.count("elected"), 0U);
    b.latch.reset();
    expect_leads(plain);
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
    expect_leads(*all[2]);
}

TEST_F(LeaderTransfer, AndBackAgainManyTimes) {
    const auto all = queue_of(3);
    for (int round = 0; round < 10; ++round) {
        const std::size_t to = round % 2 == 0 ? 2 : 0;
        candidate& from = *all[2 - to];
        ASSERT_EQ(told(transfer(from, std::to_string(to))), result::accepted);
        from.latch->resign();
        expect_leads(*all[to]);
    }
    EXPECT_EQ(all[1]->story.count("elected"), 0U);
    EXPECT_EQ(mailboxes(), 3U);
}

// ---- offers that are not accepted ----

// A third one with the number of the leader would be the end of the sequence for all of them.
TEST_F(LeaderTransfer, OfferThatCannotBeWithdrawnIsTheLastOne) {
    const auto all = queue_of(3);
    ensemble_.black_hole(all[1]->id());
    const std::string mailbox = mailbox_of(znode_of(*all[1]));
    const auto first = transfer(*all[0], "1");
    ASSERT_TRUE(run_until([&] { return ensemble_.get(mailbox)->version > 0; }, 1s));
    ensemble_.set_acl(mailbox, {{"world", "anyone", permission::read}});
    ASSERT_EQ(told(first), result::not_accepted);
    EXPECT_EQ(told(transfer(*all[0], "2")), result::not_accepted);
    EXPECT_EQ(ensemble_.get(mailbox_of(znode_of(*all[2])))->version, 0) << "offered, too";
    ensemble_.resume(all[1]->id());
    ASSERT_TRUE(run_until([&] { return all[1]->story.count("chosen") == 1; }, 5s));
    EXPECT_EQ(told(transfer(*all[0], "2")), result::not_accepted);
    all[0]->latch->resign();
    ASSERT_TRUE(leads(*all[1]));
    EXPECT_EQ(told(transfer(*all[1], "2")), result::accepted) << "of another place";
}

TEST_F(LeaderTransfer, OfferWhoseEndCannotBeSeenEndsInTimeAndIsTheLastOne) {
    const auto all = queue_of(3);
    ensemble_.black_hole(all[1]->id());
    const auto first = transfer(*all[0], "1");
    const std::string mailbox = mailbox_of(znode_of(*all[1]));
    ASSERT_TRUE(run_until([&] { return ensemble_.get(mailbox)->version > 0; }, 1s));
    ensemble_.set_acl(path, {{"world", "anyone", permission::create | permission::write}});
    EXPECT_TRUE(run_until([&] { return first->has_value(); }, 3s));
    EXPECT_EQ(*first, result::not_accepted);
    ensemble_.set_acl(path, {{"world", "anyone", permission::all}});
    EXPECT_EQ(told(transfer(*all[0], "2")), result::not_accepted);
    EXPECT_TRUE(all[0]->latch->is_leader());
}

TEST_F(LeaderTransfer, OneThatDoesNotAnswerCostsNothing) {
    const auto all = queue_of(3);
    ensemble_.black_hole(all[2]->id());
    const auto before = ensemble_.now();
    ASSERT_EQ(told(transfer(*all[0], "2")), result::not_accepted);
    EXPECT_LE(ensemble_.now() - before, 2s + 100ms) << "a sixth of the session timeout";
    EXPECT_TRUE(all[0]->latch->is_leader());
    EXPECT_FALSE(is_to_hand_over(*all[0]));
    ensemble_.resume(all[2]->id());
    run_for(10s);
    EXPECT_TRUE(all[0]->latch->is_leader()) << "the offer was withdrawn";
    EXPECT_EQ(all[2]->story.count("chosen"), 0U);
    ASSERT_EQ(told(transfer(*all[0], "2")), result::accepted) << "another one is not";
    all[0]->latch->resign();
    expect_leads(*all[2]);
}

/// The round trips are so short that a transfer ends before the leader first looks at its znode,
/// 10 ms after its grant.
class TransferByALeaderWhoseZnodeIsGone : public election_with_transfers {
protected:
    TransferByALeaderWhoseZnodeIsGone() : election_with_transfers(fast()) {}

    static ensemble::options fast() {
        ensemble::options o = exact();
        o.one_way = 100us;
        return o;
    }
};

// The directory was deleted, and the queue begins again with the number that the leader had.
TEST_F(TransferByALeaderWhoseZnodeIsGone, IsNotAcceptedByAZnodeWithTheSameNumber) {
    candidate& after = add(taking_part("b"));
    candidate& before = leading(taking_part("a"));
    ASSERT_TRUE(run_until([&] { return record() && record()->id == "a"; }, 10ms));
    run_for(200us);  // it knows of that
    by_force([&] {
        remove_znodes_but();
        ensemble_.remove(path);
    });
    after.latch->start();
    ASSERT_TRUE(run_until([&] { return mailboxes() == 2; }, 10ms));
    const leadership term = before.latch->term();
    ASSERT_TRUE(term.valid());
    EXPECT_EQ(told(transfer(before, "b")), result::not_leading);
    EXPECT_TRUE(term.valid()) << "otherwise this shows nothing";
    EXPECT_FALSE(is_to_hand_over(term));
}

// ---- asked for by others ----

class LeaderIsAsked : public election_with_transfers {};

TEST_F(LeaderIsAsked, ForATransferToNobodyAndNonsenseAndLeadsOn) {
    const auto all = queue_of(3);
    run_for(1s);
    ask(*all[0], "who?");
    run_for(30s);
    const std::string someone = "_c_00000000-0000-0000-0000-000000000000-latch-000000";
    for (const std::string& mailbox : ensemble_.children(peers_of(path))) {
        for (const std::string& nonsense : {std::string("x"),
                                            R"({"offer":")" + someone + R"(0000"})",
                                            R"({"offer":")" + someone + R"(9999"})"}) {
            ensemble_.set(peers_of(path) + "/" + mailbox, nonsense);
            run_for(1s);
        }
    }
    EXPECT_FALSE(is_to_hand_over(*all[0]));
    expect_leads(*all[0]);
    ASSERT_EQ(told(transfer(*all[0], "2")), result::accepted);
    expect_leads(*all[2]);
}

}  // namespace
}  // namespace latchkey::test

#include "election_test.hpp"
#include "leader_story.hpp"

#include <string>
#include <utility>

namespace latchkey::test {
namespace {

/// What a leader publishes, and what its term is good for.
class LeaderTerm : public ElectionTest {};

TEST_P(LeaderTerm, PublishesItsRecordInTheDataOfThePath) {
    client c = connect();
    leader_latch latch(c, path_, {.id = "a", .data = "10.0.0.7:4000"});
    const leadership term = latch.wait();
    ASSERT_TRUE(published("10.0.0.7:4000"));
    const auto r = record();
    EXPECT_EQ(r->id, "a");
    EXPECT_EQ(path_ + "/" + r->znode, term.path());
    EXPECT_EQ(r->is, leader_record::state::leading);
}

TEST_P(LeaderTerm, SaysInItsRecordThatItHasResigned) {
    client c = connect();
    leader_latch latch(c, path_, {.id = "a", .data = "address"});
    static_cast<void>(latch.wait());
    ASSERT_TRUE(published("address"));
    // Until it is known here as well: a resignation does not wait for a write that is under way.
    latch.term().proclaim("address");
    latch.close();
    EXPECT_TRUE(empties(path_));
    const auto r = record();
    ASSERT_TRUE(r);
    EXPECT_EQ(r->is, leader_record::state::clean);
    EXPECT_EQ(r->id, "a");
}

TEST_P(LeaderTerm, ProclaimsWhatItPublishes) {
    client a = connect();
    client b = connect();
    leader_latch first(a, path_, {.id = "a", .data = "at first"});
    leader_latch second(b, path_, {.id = "b", .data = "other"});
    start_in_order(first, second);
    const leadership term = first.wait();
    for (const char* data : {"one", "two \xe2\x98\x83", ""}) {
        term.proclaim(data);
        ASSERT_TRUE(published(data));
        EXPECT_EQ(token_of(*record(), 0), term.token());
    }
    EXPECT_EQ(world_->get(term.path()), "a") << "a candidate's znode is never written";
    first.resign();
    std::error_code ec;
    term.proclaim("late", ec);
    EXPECT_EQ(ec, errc::hold_lost);
    static_cast<void>(second.wait());
    EXPECT_TRUE(published("other"));
    second.close();
    EXPECT_TRUE(first.wait().valid());
    EXPECT_TRUE(published("at first")) << "each term begins with the same";
}

TEST_P(LeaderTerm, RefusesIdsAndDataThatNobodyCouldRead) {
    client c = connect();
    EXPECT_THROW(static_cast<void>(leader_latch(c, path_, {.id = std::string(513, 'x')})), error);
    EXPECT_THROW(static_cast<void>(leader_latch(c, path_, {.id = "\xff"})), error);
    EXPECT_THROW(
        static_cast<void>(leader_latch(c, path_, {.id = "a", .data = std::string(16385, 'x')})),
        error);
    EXPECT_THROW(static_cast<void>(leader_latch(c, "not absolute")), error);
    leader_latch latch(c, path_);
    const leadership term = latch.wait();
    EXPECT_THROW(term.proclaim(std::string(16385, 'x')), error);
    EXPECT_THROW(term.proclaim("\xc3\x28"), error);
    EXPECT_NO_THROW(term.proclaim(std::string(16384, 'x')));
}

TEST_P(LeaderTerm, LeavesDataAloneThatIsNoRecordAndLeadsWhenItIsGone) {
    client c = connect();
    world_->create(path_, "somebody's");
    leader_story story;
    leader_latch latch(c, path_);
    const subscription s = latch.on_change(story.teller());
    try {
        static_cast<void>(latch.wait());
        ADD_FAILURE() << "it leads";
    } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::invalid_argument);
        EXPECT_NE(std::string(e.what()).find(path_), std::string::npos) << e.what();
    }
    EXPECT_TRUE(eventually([&] { return story.count("refused") > 0; }));
    EXPECT_EQ(world_->get(path_), "somebody's");
    world_->set(path_, "");
    EXPECT_TRUE(eventually([&] { return latch.is_leader(); }));
}

TEST_P(LeaderTerm, LeadsOnWhenSomebodyWritesOverItsRecord) {
    client c = connect();
    leader_latch latch(c, path_, {.id = "a", .data = "mine"});
    const leadership term = latch.wait();
    ASSERT_TRUE(published("mine"));
    world_->set(path_, "somebody's");
    std::error_code ec;
    term.proclaim("still mine", ec);
    EXPECT_EQ(ec, errc::invalid_argument);
    EXPECT_EQ(world_->get(path_), "somebody's");
    EXPECT_TRUE(term.valid());
    world_->set(path_, "");
    // Its server may not show that yet.
    EXPECT_TRUE(eventually([&] {
        term.proclaim("still mine", ec);
        return !ec;
    }));
    EXPECT_TRUE(published("still mine"));
}

TEST_P(LeaderTerm, GuardsTransactionsByItsTerm) {
    client c = connect();
    leader_latch latch(c, path_);
    const leadership term = latch.wait();
    const std::string beside = path_ + "-effects";
    term.transact({operation::create(beside, "1")});
    EXPECT_TRUE(term.transact_once(beside + "-marker", {operation::check(beside)}));
    EXPECT_FALSE(term.transact_once(beside + "-marker", {operation::check(beside)}));
    latch.resign();
    std::error_code ec;
    EXPECT_FALSE(term.transact_once(beside + "-late", {operation::check(beside)}, ec));
    EXPECT_EQ(ec, errc::hold_lost);
    static_cast<void>(term.transact({operation::set(beside, "2")}, ec));
    EXPECT_EQ(ec, errc::hold_lost);
    EXPECT_EQ(world_->get(beside), "1");
}

TEST_P(LeaderTerm, HandsOutTermsThatMayBeEmptyAndOutliveIt) {
    leadership none;
    EXPECT_FALSE(none);
    EXPECT_FALSE(none.valid());
    EXPECT_EQ(none.valid_until(), boottime_clock::time_point::min());
    EXPECT_EQ(none.token(), fencing_token{});
    EXPECT_TRUE(none.path().empty() && none.id().empty());
    EXPECT_FALSE(none.lost().stop_possible() || none.hand_over_requested().stop_possible());
    EXPECT_THROW(none.transact({operation::create("/a")}), error);
    EXPECT_THROW(none.async_transact({operation::create("/a")}, {}), error);
    EXPECT_THROW(none.transact_once("/m", {operation::create("/a")}), error);
    EXPECT_THROW(none.async_transact_once("/m", {operation::create("/a")}, {}), error);
    EXPECT_THROW(none.proclaim(""), error);
    EXPECT_THROW(none.async_proclaim("", {}), error);
    {
        client c = connect();
        leader_latch latch(c, path_, {.id = "a"});
        none = latch.wait();
        leadership copy = none;
        none = std::move(copy);
        const leadership& same = none;
        none = same;
        EXPECT_TRUE(none.valid());
    }
    EXPECT_FALSE(none.valid());
    EXPECT_EQ(none.id(), "a");
    std::error_code ec;
    none.proclaim("", ec);
    EXPECT_EQ(ec, errc::hold_lost);
    static_cast<void>(none.transact({operation::create(path_ + "x")}, ec));
    EXPECT_EQ(ec, errc::hold_lost);
}

LATCHKEY_IN_THIS_WORLD(LeaderTerm);

}  // namespace
}  // namespace latchkey::test

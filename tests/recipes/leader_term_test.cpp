#include "election_test.hpp"
#include "leader_story.hpp"

#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

/// What a leader publishes, and what its term is good for.
class LeaderTerm : public ElectionTest {};

TEST_P(LeaderTerm, PublishesItsRecordAndThatItHasResigned) {
    leader_latch latch(a_, path_, {.id = "a", .data = "10.0.0.7:4000"});
    const leadership term = latch.wait();
    ASSERT_TRUE(published("10.0.0.7:4000"));
    auto r = record();
    EXPECT_EQ(r->id, "a");
    EXPECT_EQ(path_ + "/" + r->znode, term.path());
    EXPECT_EQ(r->is, leader_record::state::leading);
    // Until it is known here as well: a resignation does not wait for a write that is under way.
    term.proclaim("10.0.0.7:4000");
    latch.close();
    EXPECT_TRUE(empties(path_));
    r = record();
    ASSERT_TRUE(r);
    EXPECT_EQ(r->is, leader_record::state::clean);
    EXPECT_EQ(r->id, "a");
}

TEST_P(LeaderTerm, ProclaimsWhatItPublishes) {
    leader_latch first(a_, path_, {.id = "a", .data = "at first"});
    leader_latch second(b_, path_, {.id = "b", .data = "other"});
    start_in_order(first, second);
    const leadership term = first.wait();
    for (const char* data : {"one", "two \xe2\x98\x83", ""}) {
        term.proclaim(data);
        ASSERT_TRUE(published(data));
        EXPECT_EQ(token_of(*record(), 0), term.token());
    }
    EXPECT_EQ(world_->get(term.path()), "a") << "a candidate's znode is never written";
    first.resign();
    EXPECT_EQ(code_of([&](auto& ec) { term.proclaim("late", ec); }), errc::hold_lost);
    static_cast<void>(second.wait());
    EXPECT_TRUE(published("other"));
    second.close();
    EXPECT_TRUE(first.wait().valid());
    EXPECT_TRUE(published("at first")) << "each term begins with the same";
}

TEST_P(LeaderTerm, RefusesIdsAndDataThatNobodyCouldRead) {
    const std::string too_long(16385, 'x');
    for (const leader_options& bad : {leader_options{.id = std::string(513, 'x')},
                                      leader_options{.id = "\xff"},
                                      leader_options{.id = "a", .data = too_long}}) {
        EXPECT_TRUE(is_invalid([&] { return leader_latch(a_, path_, bad); }));
    }
    EXPECT_TRUE(is_invalid([&] { return leader_latch(a_, "not absolute"); }));
    leader_latch latch(a_, path_);
    const leadership term = latch.wait();
    EXPECT_THROW(term.proclaim(too_long), error);
    EXPECT_THROW(term.proclaim("\xc3\x28"), error);
    EXPECT_NO_THROW(term.proclaim(too_long.substr(1)));
}

TEST_P(LeaderTerm, LeavesDataAloneThatIsNoRecordAndLeadsWhenItIsGone) {
    world_->create(path_, "somebody's");
    leader_story story;
    leader_latch latch(a_, path_);
    const subscription s = latch.on_change(story.teller());
    EXPECT_TRUE(is_invalid([&] { return latch.wait(); }, {path_}));
    EXPECT_TRUE(eventually([&] { return story.count("refused") > 0; }));
    EXPECT_EQ(world_->get(path_), "somebody's");
    world_->set(path_, "");
    EXPECT_TRUE(eventually([&] { return latch.is_leader(); }));
}

TEST_P(LeaderTerm, LeadsOnWhenSomebodyWritesOverItsRecord) {
    leader_latch latch(a_, path_, {.id = "a", .data = "mine"});
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
    leader_latch latch(a_, path_);
    const leadership term = latch.wait();
    const std::string beside = path_ + "-effects";
    term.transact({operation::create(beside, "1")});
    EXPECT_TRUE(term.transact_once(beside + "-marker", {operation::check(beside)}));
    EXPECT_FALSE(term.transact_once(beside + "-marker", {operation::check(beside)}));
    latch.resign();
    const std::vector<operation> late{operation::set(beside, "2")};
    EXPECT_EQ(code_of([&](auto& ec) { return term.transact_once(beside + "-late", late, ec); }),
              errc::hold_lost);
    EXPECT_EQ(code_of([&](auto& ec) { return term.transact(late, ec); }), errc::hold_lost);
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
    EXPECT_EQ(code_of([&] { none.proclaim(""); }), errc::hold_lost);
    EXPECT_EQ(code_of([&] { none.transact({operation::create("/a")}); }), errc::hold_lost);
}

LATCHKEY_IN_THIS_WORLD(LeaderTerm);

}  // namespace
}  // namespace latchkey::test

// What becomes of leaders and candidates when requests, answers, sessions and znodes are lost on
// the way.
#include "client/client_core.hpp"
#include "election.hpp"
#include "request_faults.hpp"
#include "znode/guarded_write.hpp"

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::StartsWith;
using when = ensemble::when;
using op = ensemble::request_kind;

// ---- requests and answers ----

/// A connection that breaks at a request, once or several times, before a server acts on it and
/// after.
class LostByACandidate : public election,
                         public ::testing::WithParamInterface<std::tuple<op, when, int>> {
protected:
    void lose(const candidate& by) {
        const auto& [what, w, times] = GetParam();
        ensemble_.fail_next(what, w, by.id(), times);
    }
};

TEST_P(LostByACandidate, CostsNoPlaceNoTermAndNoSecondZnodeWhateverItDoes) {
    candidate& first = add();
    lose(first);
    first.latch->start();
    expect_leads(first);

    candidate& second = add();
    lose(second);
    second.latch->start();
    run_for(10s);
    EXPECT_EQ(znodes().size(), 2U);
    expect_in_order(first);

    lose(second);
    first.latch.reset();
    expect_leads(second);
    EXPECT_EQ(second.story.count("elected"), 1U);

    begin_anew(first);
    run_for(20s);  // what was lost before has been made good
    lose(second);
    second.latch->resign();
    ASSERT_TRUE(leads(first));
    run_for(20s);  // the other one has to find out first what became of its znode
    first.latch->resign();
    expect_leads(second);
    expect_pairs(first);
}

INSTANTIATE_TEST_SUITE_P(
    Request,
    LostByACandidate,
    ::testing::Combine(::testing::Values(op::create, op::children, op::get, op::multi, op::remove),
                       ::testing::Values(when::before, when::after),
                       ::testing::Values(1, 3)),
    [](const auto& p) {
        return name_of(std::get<0>(p.param)) + request_fault{std::get<1>(p.param)}.name() +
               std::to_string(std::get<2>(p.param));
    });

/// A write that ends without its outcome.
class UnknownToTheLeader : public election, public ::testing::WithParamInterface<request_fault> {
protected:
    void lose_the_next_write(const candidate& by, int times = 1) {
        GetParam().meet(ensemble_, op::multi, by.id(), times);
    }

    /// Of the record.
    int version() const { return ensemble_.get(path)->version; }
};

TEST_P(UnknownToTheLeader, AGrantIsToldWhenItIsKnownAndHasTheTokenOfTheWriteThatCounted) {
    const auto [first, second] = leader_by_a_write_and_follower();
    const int before = version();
    lose_the_next_write(second);
    first.latch.reset();
    ASSERT_TRUE(run_until([&] { return record() && record()->id == "second"; }));
    EXPECT_FALSE(second.latch->is_leader()) << "the answer was not even sent";
    ASSERT_TRUE(leads(second));
    EXPECT_EQ(second.latch->term().token().zxid, ensemble_.get(path)->mzxid);
    // The first one wrote that it has gone, the second that it leads, each once.
    EXPECT_EQ(version(), before + 2);
    expect_leads(second);
}

TEST_P(UnknownToTheLeader, AGrantAgainAndAgainIsResolvedToOneWrite) {
    const auto [first, second] = leader_by_a_write_and_follower();
    const int before = version();
    lose_the_next_write(second, 3);
    first.latch.reset();
    ASSERT_TRUE(leads(second));
    EXPECT_EQ(version(), before + 2);
    expect_in_order(second);
}

TEST_P(UnknownToTheLeader, TheRecordOfAFirstLeaderIsWrittenOnce) {
    candidate& c = add();
    lose_the_next_write(c);
    c.latch->start();
    expect_leads(c);
    EXPECT_EQ(version(), 1);
    EXPECT_EQ(c.latch->term().token().zxid, ensemble_.get(c.latch->term().path())->czxid);
}

TEST_P(UnknownToTheLeader, AProclamationIsWrittenOnceAndThenToldAsDone) {
    candidate& c = leading();
    expect_in_order(c);
    const int before = version();
    lose_the_next_write(c);
    const auto told = proclaim(c.latch->term(), {"one", "two"});
    ASSERT_TRUE(run_until([&] { return told->size() == 2; }));
    EXPECT_THAT(*told, Each(std::error_code()));
    EXPECT_EQ(record()->data, "two");
    EXPECT_EQ(version(), before + 2);
    expect_in_order(c);
}

TEST_P(UnknownToTheLeader, AProclamationWhoseTermEndsIsIndeterminate) {
    candidate& c = leading();
    expect_in_order(c);
    lose_the_next_write(c);
    const auto told = proclaim(c.latch->term(), {"one", "two"});
    run_for(one_way / 2);
    ensemble_.expire(c.id());
    ASSERT_TRUE(run_until([&] { return told->size() == 2; }));
    EXPECT_THAT(*told, ElementsAre(errc::indeterminate, errc::hold_lost));
    ASSERT_TRUE(run_until([&] { return c.story.count("elected") == 2; }));
    expect_in_order(c);
}

TEST_P(UnknownToTheLeader, AResignationLeavesNothing) {
    candidate& c = leading();
    expect_in_order(c);
    lose_the_next_write(c);
    c.latch.reset();
    ASSERT_TRUE(run_until([&] { return znodes().empty(); }));
}

INSTANTIATE_TEST_SUITE_P(Outcome,
                         UnknownToTheLeader,
                         ::testing::ValuesIn(every_unknown_outcome()),
                         named);

/// Where leadership can be transferred a znode that was the first may be younger than a term
/// before: then its czxid is no token.
class CzxidAsToken : public election {};

TEST_F(CzxidAsToken, DoesNotServeWhenTheRecordWasWrittenSince) {
    candidate& c = add();
    ensemble_.fail_next(op::get, when::before, c.id());
    c.latch->start();
    ASSERT_TRUE(run_until([&] { return !znodes().empty(); }, 1s));
    ensemble_.set(path, write_leader_record({.id = "other", .data = {}, .znode = "_c_0-latch-0"}));
    const auto written = ensemble_.get(path)->mzxid;
    ASSERT_TRUE(leads(c));
    EXPECT_GT(c.latch->term().token().zxid, written);
    EXPECT_EQ(c.latch->term().token().zxid, ensemble_.get(path)->mzxid);
    expect_in_order(c);
}

TEST_F(CzxidAsToken, ServesWhenTheRecordIsReadAgainAndIsOlder) {
    candidate& c = add();
    ensemble_.fail_next(op::get, when::before, c.id());
    c.latch->start();
    expect_leads(c);
    const leadership term = c.latch->term();
    EXPECT_EQ(term.token().zxid, ensemble_.get(term.path())->czxid);
}

// ---- terms that end as nobody expects: who is told, and what is asked of the servers ----

class LeaderThatEnds : public election {
protected:
    /// Of a session that is over, though the client does not know yet.
    void be_replaced(const candidate& c, const std::function<void()>& then) {
        by_force([&] {
            replace(c);
            run_until([&] { return c.session.state() == connection_state::suspended; }, 1s);
            then();
        });
    }
};

TEST_F(LeaderThatEnds, IsToldWhenItsRecordTellsItThatItsZnodeIsGone) {
    candidate& c = leading();
    const leadership term = c.latch->term();
    by_force([&] { ensemble_.remove(term.path()); });  // before the record is written
    ASSERT_TRUE(run_until([&] { return term.lost().stop_requested(); }, 5s));
    run_for(1ms);
    EXPECT_THAT(c.story.told(), Contains(StartsWith("lost")));
    expect_leads(c);
}

// The record's write of a young term is under way then: what it came to decides which one is to be
// replaced.
TEST_F(LeaderThatEnds, SaysThatItGaveUpAlsoWhenItHasBarelyBegun) {
    candidate& c = leading({.id = "young"});
    c.latch->close();
    run_for(1s);
    EXPECT_TRUE(znodes().empty());
    ASSERT_TRUE(record());
    EXPECT_EQ(record()->id, "young");
    EXPECT_EQ(record()->is, leader_record::state::clean);
}

TEST_F(LeaderThatEnds, LeavesDataOfSomebodyElseAloneAlsoWhenItHasBarelyBegun) {
    candidate& c = leading();
    ensemble_.set(path, "somebody's own");
    c.latch->close();
    run_for(1s);
    EXPECT_TRUE(znodes().empty());
    EXPECT_EQ(ensemble_.get(path)->data, "somebody's own");
}

TEST_F(LeaderThatEnds, TellsAtOnceThatItIsNotKnownWhatWasBeingProclaimed) {
    candidate& c = leading();
    expect_in_order(c);
    const auto told = proclaim(c.latch->term(), {"sent", "waits for it"});
    run_for(100us);
    ensemble_.black_hole(c.id());
    c.latch->close();
    run_for(100us);
    EXPECT_THAT(*told, ElementsAre(errc::indeterminate, errc::hold_lost));
    by_force([&] { ensemble_.resume(c.id()); });
    run_for(30s);
    EXPECT_TRUE(znodes().empty());
}

TEST_F(LeaderThatEnds, AsksNothingOfTheServersForASessionThatWasReplaced) {
    candidate& c = leading();
    expect_in_order(c);
    const std::string before = c.latch->term().path();
    const std::int64_t session = c.id();
    be_replaced(c, [&] { c.latch->resign(); });
    ASSERT_TRUE(run_until([&] { return c.id() != session && c.id() != 0; }, 5s));
    run_for(50ms);
    EXPECT_TRUE(ensemble_.exists(before)) << "it goes with its own session";
    expect_leads(c);
}

// The znode of the leader may live on with the session that was replaced, and guards nothing then.
TEST_F(LeaderThatEnds, ProclaimsNothingInTheSessionThatComesAfterItsOwn) {
    candidate& c = leading();
    expect_in_order(c);
    outcomes told;
    be_replaced(c, [&] { told = proclaim(c.latch->term(), {"one", "two", "three", "four"}); });
    ASSERT_TRUE(run_until([&] { return told->size() == 4; }, 5s));
    run_for(50ms);
    EXPECT_THAT(*told, Each(errc::hold_lost));
    EXPECT_EQ(record()->data, "");
}

TEST_F(LeaderThatEnds, DoesNotSayThatNothingWasWrittenWhenTheAnswerToItWasLost) {
    const candidate& c = leading();
    expect_in_order(c);
    const std::string own = c.latch->term().path();
    leader_record changed = *record();
    changed.data = "changed";
    guarded_write write{.own = own,
                        .path = path,
                        .text = [&](std::int32_t) { return write_leader_record(changed); },
                        .version = ensemble_.get(path)->version};
    request_fault{when::after, -7, false}.meet(ensemble_, op::multi, c.id());
    std::optional<guarded_written> end;
    running_task writing;
    writing.start(write_guarded(*client_core::of(c.session), write),
                  [&end](guarded_written w) { end = std::move(w); });
    ASSERT_TRUE(run_until([&] { return record()->data == "changed"; }, 5s));
    by_force([&] {
        ensemble_.remove(own);
        ensemble_.set(path, "");
    });
    ASSERT_TRUE(run_until([&] { return end.has_value(); }));
    EXPECT_EQ(end->what, guarded_written::kind::gone);
    EXPECT_TRUE(end->in_doubt);
}

}  // namespace
}  // namespace latchkey::test

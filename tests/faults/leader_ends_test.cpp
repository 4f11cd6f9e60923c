// How terms end that nobody expects to end: who is told, and what is asked of the servers.
#include "client/client_core.hpp"
#include "election.hpp"
#include "znode/guarded_write.hpp"

#include <optional>
#include <string>
#include <utility>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::Contains;
using ::testing::StartsWith;

class LeaderThatEnds : public election {};

TEST_F(LeaderThatEnds, IsToldWhenItsRecordTellsItThatItsZnodeIsGone) {
    candidate& c = leading();
    const leadership term = c.latch->term();
    by_force([&] { ensemble_.remove(term.path()); });  // before the record is written
    ASSERT_TRUE(run_until([&] { return term.lost().stop_requested(); }, 5s));
    run_for(1ms);
    EXPECT_THAT(c.story.told(), Contains(StartsWith("lost")));
    ASSERT_TRUE(leads(c));
    expect_in_order(c);
    expect_pairs(c);
}

// The record's write of a young term is under way then: what it came to decides which one is to be
// replaced.
TEST_F(LeaderThatEnds, SaysThatItGaveUpAlsoWhenItHasBarelyBegun) {
    candidate& c = leading({.id = "young"});
    c.latch->close();
    run_for(1s);
    EXPECT_TRUE(ensemble_.children(path).empty());
    ASSERT_TRUE(record());
    EXPECT_EQ(record()->id, "young");
    EXPECT_EQ(record()->is, leader_record::state::clean);
}

TEST_F(LeaderThatEnds, LeavesDataOfSomebodyElseAloneAlsoWhenItHasBarelyBegun) {
    candidate& c = leading();
    ensemble_.set(path, "somebody's own");
    c.latch->close();
    run_for(1s);
    EXPECT_TRUE(ensemble_.children(path).empty());
    EXPECT_EQ(ensemble_.get(path)->data, "somebody's own");
}

TEST_F(LeaderThatEnds, TellsAtOnceThatItIsNotKnownWhatWasBeingProclaimed) {
    candidate& c = leading();
    expect_in_order(c);
    std::error_code first;
    std::error_code second;
    const leadership term = c.latch->term();
    term.async_proclaim("sent", [&](std::error_code ec) { first = ec; });
    term.async_proclaim("waits for it", [&](std::error_code ec) { second = ec; });
    run_for(100us);
    ensemble_.black_hole(c.id());
    c.latch->close();
    run_for(100us);
    EXPECT_EQ(first, errc::indeterminate);
    EXPECT_EQ(second, errc::hold_lost);
    by_force([&] { ensemble_.resume(c.id()); });
    run_for(30s);
    EXPECT_TRUE(ensemble_.children(path).empty());
}

TEST_F(LeaderThatEnds, AsksNothingOfTheServersForASessionThatWasReplaced) {
    candidate& c = leading();
    expect_in_order(c);
    const std::string before = c.latch->term().path();
    const std::int64_t session = c.id();
    by_force([&] {
        ensemble_.replace(session);
        ensemble_.cut(session);
        run_until([&] { return c.session.state() == connection_state::suspended; }, 1s);
        c.latch->resign();
    });
    ASSERT_TRUE(run_until([&] { return c.id() != session && c.id() != 0; }, 5s));
    run_for(50ms);
    EXPECT_TRUE(ensemble_.exists(before)) << "it goes with its own session";
    ASSERT_TRUE(leads(c));
    expect_in_order(c);
    expect_pairs(c);
}

// The znode of the leader may live on with the session that was replaced, and guards nothing then.
TEST_F(LeaderThatEnds, ProclaimsNothingInTheSessionThatComesAfterItsOwn) {
    candidate& c = leading();
    expect_in_order(c);
    const leadership term = c.latch->term();
    const std::int64_t session = c.id();
    std::vector<std::error_code> told;
    by_force([&] {
        ensemble_.replace(session);
        ensemble_.cut(session);
        run_until([&] { return c.session.state() == connection_state::suspended; }, 1s);
        for (const char* data : {"one", "two", "three", "four"}) {
            term.async_proclaim(data, [&](std::error_code ec) { told.push_back(ec); });
        }
    });
    ASSERT_TRUE(run_until([&] { return told.size() == 4; }, 5s));
    run_for(50ms);
    for (const std::error_code ec : told) {
        EXPECT_EQ(ec, errc::hold_lost) << ec.message();
    }
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
                        .text = write_leader_record(changed),
                        .version = ensemble_.get(path)->version};
    constexpr int operation_timeout = -7;
    ensemble_.refuse_next(
        ensemble::request_kind::multi, operation_timeout, c.id(), 1, ensemble::when::after);
    std::optional<guarded_written> end;
    running_task writing;
    writing.start(write_guarded(*client_core::of(c.session), write),
                  [&end](guarded_written w) { end = std::move(w); });
    ASSERT_TRUE(run_until([&] { return record()->data == "changed"; }, 5s));
    by_force([&] {
        ensemble_.remove(own);
        ensemble_.set(path, "");
    });
    ASSERT_TRUE(run_until([&] { return end.has_value(); }, 60s));
    EXPECT_EQ(end->what, guarded_written::kind::gone);
    EXPECT_TRUE(end->in_doubt);
}

}  // namespace
}  // namespace latchkey::test

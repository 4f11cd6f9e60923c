// How terms end that nobody expects to end: who is told, and what is asked of the servers.
#include "election.hpp"

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::Contains;
using ::testing::StartsWith;

class LeaderThatEnds : public election {};

TEST_F(LeaderThatEnds, IsToldWhenItsRecordTellsItThatItsZnodeIsGone) {
    candidate& c = leading();
    const leadership term = c.latch->leadership();
    by_force([&] { ensemble_.remove(term.path()); });  // before the record is written
    ASSERT_TRUE(run_until([&] { return term.lost().stop_requested(); }, 5s));
    run_for(1ms);
    EXPECT_THAT(c.story.told(), Contains(StartsWith("lost")));
    ASSERT_TRUE(leads(c));
    expect_in_order(c);
    expect_pairs(c);
}

TEST_F(LeaderThatEnds, AsksNothingOfTheServersForASessionThatWasReplaced) {
    candidate& c = leading();
    expect_in_order(c);
    const std::string before = c.latch->leadership().path();
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

}  // namespace
}  // namespace latchkey::test

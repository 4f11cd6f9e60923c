#include "elect_fixture.hpp"

#include <csignal>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// `latchkey elect` loses the leadership while its command runs.

namespace latchkey::test {

namespace {

class LostLeadership : public elect_fixture {};

TEST_F(LostLeadership, IsTheEndIfASignalWasMeantToEndIt) {
    const auto p = run_sh("elect PATH", "echo >>$DIR/starts; " + at_term("touch $DIR/term"));
    static_cast<void>(folder_.pid_in("main"));
    p->send(SIGTERM);
    ASSERT_TRUE(folder_.eventually_has("term"));
    break_leadership();
    EXPECT_EQ(p->wait(), 76) << p->err();
    EXPECT_EQ(folder_.content("starts"), "\n") << "it was told to stop";
}

TEST_F(LostLeadership, ByMaxHoldIsTheEndIfASignalWasMeantToEndIt) {
    const auto p = run_sh("elect --max-hold 2 PATH", at_term("touch $DIR/term"));
    static_cast<void>(folder_.pid_in("main"));
    EXPECT_THAT(status_after(SIGTERM, p), AnyOf(124, 143)) << "143: between two terms";
}

}  // namespace

}  // namespace latchkey::test

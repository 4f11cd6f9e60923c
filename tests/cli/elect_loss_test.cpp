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

TEST_F(LostLeadership, DoesNotWaitForTheOnLostOfTheOneBefore) {
    const auto p = run("elect",
                       {"--on-lost",
                        "if [ -e $DIR/one ]; then kill -0 $(cat $DIR/one) && touch $DIR/beside; "
                        "else echo $$ >$DIR/one; exec sleep 1000; fi",
                        path_,
                        "-c",
                        "echo $LATCHKEY_TOKEN >>$DIR/terms; exec sleep 1000"});
    ASSERT_TRUE(eventually([&] {
        const auto before = numbers_in("terms").size();
        if (before > 0) {
            break_leadership();
            EXPECT_TRUE(eventually([&] { return numbers_in("terms").size() > before; }));
        }
        return folder_.has("beside");
    })) << p->err();
    EXPECT_EQ(status_after(SIGTERM, p), 143);
}

}  // namespace

}  // namespace latchkey::test

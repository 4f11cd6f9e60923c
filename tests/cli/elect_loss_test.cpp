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

TEST_F(LostLeadership, IsNoCandidateAgainWhileTheCommandLives) {
    const auto first = run_sh("elect --id first --audit " + (folder_ / "audit") + " PATH",
                              "echo $PPID >$DIR/supervisor; echo $$ >$DIR/main; exec sleep 1000");
    const pid_t main = folder_.pid_in("main");
    const pid_t supervisor = folder_.pid_in("supervisor");
    ::kill(supervisor, SIGSTOP);
    break_leadership();
    ASSERT_TRUE(
        eventually([&] { return folder_.content("audit").find("\"lost\"") != std::string::npos; }));
    const auto second = run("elect --once --id second PATH -- true");
    EXPECT_EQ(second->wait(), 0) << second->err();
    EXPECT_THAT(candidates(), IsEmpty());
    EXPECT_FALSE(dead(main));
    ::kill(supervisor, SIGCONT);
    EXPECT_TRUE(eventually_another_than(main)) << first->err();
    EXPECT_EQ(status_after(SIGTERM, first), 143);
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

#include "lock_fixture.hpp"

#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// The lock is lost while the servers are available.

namespace latchkey::test {

namespace {

using testing::HasSubstr;

class LockLoss : public lock_fixture {
protected:
    LockLoss() : lock_fixture(real_ensemble::shared().connect_string()) {}

    /// Another client deletes the holder's znode.
    void break_lock() {
        const auto victim = path_ + '/' + queue().holder().value().name;
        auto elsewhere = client::connect(servers_);
        mutex other(elsewhere, real_ensemble::fresh_path());
        other.acquire().transact({operation::remove(victim)});
    }
};

TEST_F(LockLoss, ByADeletedZnodeKillsTheCommandAndAllItStarted) {
    const auto p = lock_sh({}, family);
    const pid_t main = pid_in("main");
    const pid_t stray = pid_in("stray");
    break_lock();
    EXPECT_EQ(p->wait(), 76);
    EXPECT_TRUE(dead(main));
    EXPECT_TRUE(dead(stray));
    EXPECT_THAT(p->err(), HasSubstr(path_ + " lost"));
}

TEST_F(LockLoss, IsReportedEvenWhenTheCommandWouldHaveSucceeded) {
    const auto p =
        lock_sh({}, "trap 'exit 0' TERM; echo $$ >$DIR/main; while :; do sleep 0.01; done");
    static_cast<void>(pid_in("main"));
    break_lock();
    EXPECT_EQ(p->wait(), 76);
}

TEST_F(LockLoss, EndsAHoldWithoutCommand) {
    const auto p = lock({});
    ASSERT_TRUE(eventually([&] { return !p->out().empty(); }));
    break_lock();
    EXPECT_EQ(p->wait(), 76);
    EXPECT_THAT(p->err(), HasSubstr(path_ + " lost"));
}

TEST_F(LockLoss, ByKillingLatchkeyKillsTheCommandBeforeTheNextHolderRuns) {
    const auto holder = lock_sh({"-t", "4"}, family);
    const pid_t main = pid_in("main");
    const pid_t stray = pid_in("stray");
    const auto next = lock_sh({"-t", "4"},
                              "kill -0 $(cat $DIR/main) 2>/dev/null && exit 1; "
                              "kill -0 $(cat $DIR/stray) 2>/dev/null && exit 2; exit 0");
    ASSERT_TRUE(eventually_participants(2));
    holder->send(SIGKILL);
    EXPECT_EQ(holder->wait(), 137);
    EXPECT_TRUE(eventually([&] { return dead(main) && dead(stray); }));
    EXPECT_EQ(next->wait(), 0) << next->err();
}

TEST_F(LockLoss, ByStoppingLatchkeyKillsTheCommandBeforeTheNextHolderRuns) {
    const auto holder = lock_sh({"-t", "4"}, family);
    const pid_t main = pid_in("main");
    const pid_t stray = pid_in("stray");
    const auto next = lock_sh({"-t", "4"}, "touch $DIR/next; exec sleep 1000");
    ASSERT_TRUE(eventually_participants(2));
    holder->send(SIGSTOP);
    ASSERT_TRUE(eventually([&] { return exists("next") || (dead(main) && dead(stray)); }));
    EXPECT_TRUE(dead(main) && dead(stray)) << "the next holder runs already";
    ASSERT_TRUE(eventually_exists("next"));
    holder->send(SIGCONT);
    EXPECT_EQ(holder->wait(), 76);
    EXPECT_THAT(holder->err(), HasSubstr(path_));
    EXPECT_EQ(participants(), 1U);
}

TEST_F(LockLoss, OfAHoldWithoutCommandIsReportedAfterAStop) {
    const auto holder = lock({"-t", "4"});
    ASSERT_TRUE(eventually([&] { return !holder->out().empty(); }));
    const auto next = lock({"-t", "4"});
    ASSERT_TRUE(eventually_participants(2));
    holder->send(SIGSTOP);
    ASSERT_TRUE(eventually([&] { return !next->out().empty(); }));
    holder->send(SIGCONT);
    EXPECT_EQ(holder->wait(), 76);
}

TEST_F(LockLoss, BySupervisorsDeathNeverLooksLikeSuccess) {
    const auto p = lock_sh({}, "echo $PPID >$DIR/supervisor; echo $$ >$DIR/main; exec sleep 1000");
    const pid_t main = pid_in("main");
    ::kill(pid_in("supervisor"), SIGKILL);
    EXPECT_EQ(p->wait(), 71);
    EXPECT_TRUE(dead(main));
    EXPECT_EQ(participants(), 0U);
}

}  // namespace

}  // namespace latchkey::test

// What an operator deletes by hand, under those who hold and wait.
#include "contest.hpp"
#include "eventually.hpp"
#include "real_ensemble.hpp"

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

class Operator : public ::testing::Test {
protected:
    contest c{{.holders_servers = real_ensemble::shared().connect_string(),
               .other_servers = real_ensemble::shared().connect_string(),
               .session_timeout = 10s}};
};

TEST_F(Operator, WhoDeletesTheHoldersZnodeEndsTheHoldAndTheNextOneIsGranted) {
    c.remove(c.first().znode());
    EXPECT_EQ(c.expect_lost(), loss_reason::znode_deleted);
    c.expect_granted_to_the_second();
}

TEST_F(Operator, WhoDeletesAWaitersZnodeSendsItToTheTail) {
    competitor third(real_ensemble::shared().connect_string(), c.path(), 10s);
    third.join();
    c.remove(c.second().znode());
    EXPECT_TRUE(eventually([&] { return c.second().places() == 2; }));
    EXPECT_EQ(c.sessions_in_queue(),
              (std::vector{c.first().session(), third.session(), c.second().session()}));
    EXPECT_TRUE(c.first().valid());
    c.first().release();
    EXPECT_TRUE(eventually([&] { return third.valid(); }));
    EXPECT_FALSE(c.second().has());
    third.release();
    c.expect_granted_to_the_second();
}

TEST_F(Operator, WhoDeletesTheDirectoryWithAllInItEndsTheHoldAndTheQueueFormsAnew) {
    c.remove_all(c.second(), c.first());
    EXPECT_EQ(c.expect_lost(), loss_reason::znode_deleted);
    c.expect_granted_to_the_second();
    EXPECT_EQ(c.second().places(), 2);
    c.first().release();
    c.first().join();
    EXPECT_EQ(c.sessions_in_queue(), (std::vector{c.second().session(), c.first().session()}));
}

TEST_F(Operator, WhoDeletesTheHolderBeforeTheWaiterMakesAHoldThatIsLostAtOnce) {
    c.remove_all(c.first(), c.second());
    EXPECT_EQ(c.expect_lost(), loss_reason::znode_deleted);
    EXPECT_TRUE(eventually([&] { return c.second().why_lost() == loss_reason::znode_deleted; }));
    EXPECT_EQ(c.write(c.second(), "late"), errc::hold_lost);
    c.second().release();
    c.second().join();
    c.expect_granted_to_the_second();
}

}  // namespace
}  // namespace latchkey::test

// Named faults, and what becomes of a hold and of those who wait for it: connections that carry
// nothing any more, what an operator deletes by hand, and what the children of a holder inherit.
#include "contest.hpp"
#include "eventually.hpp"
#include "forked_child.hpp"
#include "real_ensemble.hpp"
#include "server_proxies.hpp"
#include "tcp_proxy.hpp"
#include "too_slow.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

// ---- black holes: no end of the connection arrives ----

class BlackHole : public ::testing::Test {
protected:
    const std::string servers_ = real_ensemble::shared().connect_string();
    const server_proxies<tcp_proxy> ways_{real_ensemble::shared()};
};

TEST_F(BlackHole, ToOneServerCostsAReconnectAndNotTheHold) {
    if (ways_.size() < 2) {
        GTEST_SKIP() << "there is one server only";
    }
    contest c(ways_.addresses(), servers_, 12s);
    const auto its = std::ranges::find_if(ways_, [](const auto& way) { return way->open() > 0; });
    ASSERT_NE(its, ways_.end());
    (*its)->black_hole();
    const auto start = boottime_clock::now();
    EXPECT_TRUE(c.writes(c.first(), "elsewhere"));
    report("silence", boottime_clock::now() - start);
    (*its)->pass();
    c.expect_kept();
}

// The C client notices two thirds of the timeout after the last byte that came.
TEST_F(BlackHole, ToAllServersCostsTheHoldAtItsDeadlineWhateverTheCClientKnows) {
    contest c(ways_.addresses(), servers_, 3s);
    const auto session = c.first().session();
    std::ranges::for_each(ways_, [](const auto& way) { way->black_hole(); });
    c.expect_taken_over_after_the_deadline();
    EXPECT_EQ(c.first().session(), session) << "nobody can have said that it has ended";

    std::ranges::for_each(ways_, [](const auto& way) { way->pass(); });
    c.first().release();
    c.first().join();
    EXPECT_NE(c.first().session(), session);
    c.second().release();
    EXPECT_TRUE(eventually([&] { return c.first().has(); }));
}

// ---- an operator ----

class Operator : public ::testing::Test {
protected:
    contest c{real_ensemble::shared().connect_string(), 10s};
};

TEST_F(Operator, WhoDeletesTheHoldersZnodeEndsTheHoldAndTheNextOneIsGranted) {
    c.remove(c.first().znode());
    c.expect_lost(loss_reason::znode_deleted);
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
    EXPECT_TRUE(eventually([&] { return third.has(); }));
    EXPECT_FALSE(c.second().has());
    third.release();
    c.expect_granted_to_the_second();
}

TEST_F(Operator, WhoDeletesTheDirectoryWithAllInItEndsTheHoldAndTheQueueFormsAnew) {
    c.remove_all(c.second(), c.first());
    c.expect_lost(loss_reason::znode_deleted);
    c.expect_granted_to_the_second();
    EXPECT_EQ(c.second().places(), 2);
    c.first().release();
    c.first().join();
    EXPECT_EQ(c.sessions_in_queue(), (std::vector{c.second().session(), c.first().session()}));
}

TEST_F(Operator, WhoDeletesTheHolderBeforeTheWaiterMakesAHoldThatIsLostAtOnce) {
    c.remove_all(c.first(), c.second());
    c.expect_lost(loss_reason::znode_deleted);
    const auto is_lost = [&] { return c.second().why_lost() == loss_reason::znode_deleted; };
    EXPECT_TRUE(eventually([&] { return is_lost() || c.second().places() == 2; }));
    if (!is_lost()) {
        GTEST_SKIP() << too_slow
                     << "the waiter had to prove its session before it could be granted";
    }
    EXPECT_EQ(c.write(c.second(), "late"), errc::hold_lost);
    c.second().release();
    c.second().join();
    c.expect_granted_to_the_second();
}

// ---- children: nothing that could hold, release or keep alive the lock ----

TEST(Child, OfAForkHasNothingAndContendsWithAClientOfItsOwn) {
    const std::string servers = real_ensemble::shared().connect_string();
    contest c(servers, 20s);
    EXPECT_TRUE(holds_in_a_forked_child([&] {
        const bool has_nothing = !c.first().valid() &&
                                 c.first().why_lost() == loss_reason::forked &&
                                 c.write(c.first(), "by the child") == errc::forked;
        c.first().release();
        client own = client::connect(servers);
        const bool connected = own.wait_connected(30s);
        catch_up(own);
        const bool excluded = !mutex(own, c.path()).try_acquire();
        const auto seen = mutex(own, c.path()).participants().size();
        const bool fine = has_nothing && connected && excluded && seen == 2;
        if (!fine) {
            std::fprintf(stderr,
                         "has nothing %d, connected %d, excluded %d, sees %zu\n",
                         has_nothing,
                         connected,
                         excluded,
                         seen);
        }
        return fine;
    }));
    EXPECT_EQ(c.effect(), "");
    EXPECT_FALSE(c.write(c.first(), "by the parent"));
    c.expect_kept();
}

/// How many sockets a program has that this one runs, inherited from here.
int sockets_of_a_program() {
    FILE* list = ::popen("ls -l /proc/self/fd", "r");
    int count = 0;
    std::array<char, 512> line{};
    while (std::fgets(line.data(), static_cast<int>(line.size()), list) != nullptr) {
        count += std::string(line.data()).find("socket:") != std::string::npos ? 1 : 0;
    }
    ::pclose(list);
    return count;
}

TEST(Child, ThatRunsAProgramInheritsNoConnection) {
    const int before = sockets_of_a_program();
    const contest c(real_ensemble::shared().connect_string(), 20s);
    EXPECT_EQ(sockets_of_a_program(), before);
}

}  // namespace
}  // namespace latchkey::test

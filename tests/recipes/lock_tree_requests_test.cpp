#include <latchkey/ensemble.hpp>
#include <latchkey/group.hpp>
#include <latchkey/lock_tree.hpp>

#include "call_failures.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::ensemble;

/// What walk_locks() sends, and what becomes of lost answers. Only the in-process ensemble counts
/// requests.
class LockTreeRequests : public ::testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(zk_.wait_connected(30s)); }

    /// A mutex with so many participants, without sessions.
    static void put_lock(ensemble& servers, const std::string& path, int participants) {
        servers.create(path);
        for (int i = 0; i < participants; ++i) {
            std::string number = std::to_string(i);
            number.insert(0, 10 - number.size(), '0');
            servers.create(path + "/_c_x-lock-" + number);
        }
    }

    /// "/jobs/0", "/jobs/1", ...
    static void put_locks(ensemble& servers, int locks, int participants) {
        servers.create("/jobs");
        for (int i = 0; i < locks; ++i) {
            put_lock(servers, "/jobs/" + std::to_string(i), participants);
        }
    }

    void put_semaphore() {
        servers_.create("/s", "2");
        servers_.create("/s/queue");
        servers_.create("/s/permits");
        servers_.create("/s/permits/_c_x-permit-1");
        servers_.create("/s/queue/_c_x-permit-0000000007");
    }

    lock_tree_summary walk(const std::string& path, const lock_tree_options& options = {}) {
        found_.clear();
        const auto before = servers_.count(zk_.session_id());
        const auto end = walk_locks(
            zk_,
            path,
            [this](const lock_tree_entry& e) {
                found_.insert(e.view.path);
                participants_ += e.view.participants.size();
                waiting_ = e.waiting;
            },
            options);
        const auto after = servers_.count(zk_.session_id());
        gets_ = after.gets - before.gets;
        lists_ = after.children - before.children;
        watches_ = after.watches_set - before.watches_set;
        return end;
    }

    ensemble servers_{{.servers = 1}};
    // Long, so that hardly a sign of life is counted.
    client zk_ = servers_.connect({.session_timeout = 40s});
    std::set<std::string> found_;
    std::size_t participants_ = 0;
    std::size_t waiting_ = 0;  ///< of the last path
    std::uint64_t gets_ = 0;
    std::uint64_t lists_ = 0;
    std::uint64_t watches_ = 0;
};

// Beyond 64 levels there is no end, for all that is known.
TEST_F(LockTreeRequests, ATreeWithoutAnEndEndsTheWalkAheadOfWhatIsBehindIt) {
    constexpr std::size_t others = 25'000;  // more than is read in 64 round trips
    std::string below = "/jobs";
    servers_.create(below);
    for (int depth = 0; depth < 66; ++depth) {
        servers_.create(below += "/d");
    }
    for (std::size_t i = 0; i < others; ++i) {
        servers_.create("/jobs/z" + std::to_string(i));
    }
    const auto end = walk("/jobs");
    EXPECT_EQ(end.end, lock_tree_summary::ending::too_deep);
    EXPECT_LT(end.znodes, others);
}

TEST_F(LockTreeRequests, EachZnodeIsReadOnceAndListedOnce) {
    put_locks(servers_, 300, 3);
    const auto end = walk("/jobs");
    EXPECT_EQ(found_.size(), 300U);
    EXPECT_EQ(participants_, 900U);
    EXPECT_EQ(gets_, 1U + 300 + 900);
    EXPECT_EQ(lists_, 1U + 300) << "no participant is listed";
    EXPECT_EQ(watches_, 0U);
    EXPECT_EQ(end.znodes, gets_);
}

TEST_F(LockTreeRequests, WithoutWaitersOnlyThoseAreReadThatMayHold) {
    put_lock(servers_, "/lock", 100);
    servers_.create("/files");
    for (const char* name : {"_c_x-__READ__0000000001",
                             "_c_x-__READ__0000000002",
                             "_c_x-__WRIT__0000000003",
                             "_c_x-__READ__0000000004"}) {
        servers_.create(std::string("/files/") + name);
    }
    put_semaphore();
    for (const auto& [path, shown, gets, waiting] : {std::tuple("/lock", 1U, 2U, 99U),
                                                     std::tuple("/files", 3U, 4U, 2U),
                                                     std::tuple("/s", 1U, 2U, 1U)}) {
        participants_ = 0;
        walk(path, {.waiters = false});
        EXPECT_EQ(participants_, shown) << path << ": a writer behind readers may be an upgrader";
        EXPECT_EQ(gets_, gets) << path;
        EXPECT_EQ(waiting_, waiting) << path;
        walk(path);
        EXPECT_EQ(waiting_, waiting) << path;
    }
}

TEST_F(LockTreeRequests, DirectoriesInsideOfASemaphoreAreListedOnce) {
    put_semaphore();
    walk("/s");
    EXPECT_EQ(gets_, 3U) << "the path and two participants";
    EXPECT_EQ(lists_, 3U) << "the path, queue and permits";
}

TEST_F(LockTreeRequests, GroupThatItDecidesByItsChildrenIsReadOnce) {
    const client others = servers_.connect({.session_timeout = 40s});
    group members(others, "/group");
    const membership joined[] = {members.join("a"), members.join("b")};
    walk("/group");
    EXPECT_THAT(found_, ElementsAre("/group"));
    EXPECT_EQ(participants_, 2U);
    EXPECT_EQ(gets_, 3U);
}

TEST_F(LockTreeRequests, LostAnswersAreAskedForAgain) {
    put_locks(servers_, 50, 2);
    for (const auto what : {ensemble::request_kind::get, ensemble::request_kind::children}) {
        servers_.fail_next(what, ensemble::when::after, zk_.session_id());
        EXPECT_EQ(walk("/jobs").locks, 50U);
        EXPECT_EQ(servers_.faults_to_come(), 0U);
    }
}

TEST_F(LockTreeRequests, AtMost64RequestsAreInFlight) {
    // No faster than that many a round trip, however fast this machine is.
    constexpr auto round_trip = 4ms;
    ensemble distant{{.servers = 1, .one_way = round_trip / 2}};
    const client zk = distant.connect({.session_timeout = 40s});
    ASSERT_TRUE(zk.wait_connected(30s));
    put_locks(distant, 200, 3);
    const auto begin = distant.now();
    const auto end = walk_locks(zk, "/jobs", [](const lock_tree_entry&) {});
    EXPECT_EQ(end.locks, 200U);
    constexpr int requests = 2 + 200 * (2 + 3);
    EXPECT_GE(distant.now() - begin, requests / 64 * round_trip);
}

TEST_F(LockTreeRequests, VisitorThatThrowsEndsTheWalkWithReadsUnderWay) {
    put_locks(servers_, 300, 2);
    std::size_t visited = 0;
    const auto visit = [&](const lock_tree_entry&) {
        if (++visited == 2) {
            throw std::runtime_error("enough");
        }
    };
    EXPECT_THROW(static_cast<void>(walk_locks(zk_, "/jobs", visit)), std::runtime_error);
    EXPECT_EQ(visited, 2U);
    EXPECT_EQ(walk("/jobs").locks, 300U) << "the client is as before";
}

TEST_F(LockTreeRequests, ServersThatDoNotAnswerAreUnreachable) {
    client alone = servers_.connect({.session_timeout = 4s});
    ASSERT_TRUE(alone.wait_connected(30s));
    servers_.stop_server(0);
    const auto walk_alone = [&](auto& ec) {
        EXPECT_EQ(walk_locks(
                      alone, "/", [](const auto&) {}, {}, ec)
                      .znodes,
                  0U);
    };
    EXPECT_EQ(code_of(walk_alone), errc::unreachable);
}

}  // namespace
}  // namespace latchkey::test

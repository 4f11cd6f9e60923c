#include <latchkey/ensemble.hpp>
#include <latchkey/group.hpp>
#include <latchkey/lock_tree.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <system_error>

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
    void put_lock(const std::string& path, int participants) {
        servers_.create(path);
        for (int i = 0; i < participants; ++i) {
            std::string number = std::to_string(i);
            number.insert(0, 10 - number.size(), '0');
            servers_.create(path + "/_c_x-lock-" + number);
        }
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
    std::uint64_t gets_ = 0;
    std::uint64_t lists_ = 0;
    std::uint64_t watches_ = 0;
};

TEST_F(LockTreeRequests, EachZnodeIsReadOnceAndListedOnce) {
    servers_.create("/jobs");
    for (int i = 0; i < 300; ++i) {
        put_lock("/jobs/" + std::to_string(i), 3);
    }
    const auto end = walk("/jobs");
    EXPECT_EQ(found_.size(), 300U);
    EXPECT_EQ(participants_, 900U);
    EXPECT_EQ(gets_, 1U + 300 + 900);
    EXPECT_EQ(lists_, 1U + 300) << "no participant is listed";
    EXPECT_EQ(watches_, 0U);
    EXPECT_EQ(end.znodes, gets_);
}

TEST_F(LockTreeRequests, DirectoriesInsideOfASemaphoreAreListedOnce) {
    servers_.create("/s", "2");
    servers_.create("/s/queue");
    servers_.create("/s/permits");
    servers_.create("/s/permits/_c_x-permit-1");
    servers_.create("/s/queue/_c_x-permit-0000000007");
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
    servers_.create("/jobs");
    for (int i = 0; i < 50; ++i) {
        put_lock("/jobs/" + std::to_string(i), 2);
    }
    for (const auto what : {ensemble::request_kind::get, ensemble::request_kind::children}) {
        servers_.fail_next(what, ensemble::when::after, zk_.session_id());
        EXPECT_EQ(walk("/jobs").locks, 50U);
        EXPECT_EQ(servers_.faults_to_come(), 0U);
    }
}

TEST_F(LockTreeRequests, ServersThatDoNotAnswerAreUnreachable) {
    client alone = servers_.connect({.session_timeout = 4s});
    ASSERT_TRUE(alone.wait_connected(30s));
    servers_.stop_server(0);
    std::error_code ec;
    EXPECT_EQ(walk_locks(
                  alone, "/", [](const auto&) {}, {}, ec)
                  .znodes,
              0U);
    EXPECT_EQ(ec, errc::unreachable);
}

}  // namespace
}  // namespace latchkey::test

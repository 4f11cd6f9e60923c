#include <latchkey/ensemble.hpp>
#include <latchkey/inspect.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/semaphore.hpp>

#include "call_failures.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using testing::ensemble;

/// What inspect() and break_hold() send, and what becomes of lost answers. Only the in-process
/// ensemble counts requests and loses chosen answers.
class InspectRequests : public ::testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(zk_.wait_connected(30s)); }

    struct costs {
        std::uint64_t requests = 0;
        std::uint64_t exists = 0;  ///< signs of life among them
    };

    [[nodiscard]] costs cost_of(auto call) {
        const auto before = servers_.count(zk_.session_id());
        call();
        const auto after = servers_.count(zk_.session_id());
        return {after.requests() - before.requests(), after.exists - before.exists};
    }

    [[nodiscard]] participant first() { return inspect(zk_, "/lock").participants.at(0); }

    ensemble servers_{{.servers = 1}};
    // Long, so that hardly a sign of life is counted.
    client zk_ = servers_.connect({.session_timeout = 40s});
    client holders_ = servers_.connect({.session_timeout = 40s});
    mutex m_{holders_, "/lock"};
};

TEST_F(InspectRequests, CostOneForEachParticipantAndTwoMoreAndThreeMoreForASemaphore) {
    const hold h = m_.acquire();
    semaphore s(holders_, "/semaphore", 2);
    const hold permit = s.acquire();
    servers_.create("/dir");
    for (const char* const name : {"a", "b", "c"}) {
        servers_.create(std::string("/dir/") + name, std::string(1'000, 'x'));
    }

    struct row {
        const char* path;
        lock_kind kind;
        std::uint64_t requests;
        std::uint64_t exists;
    };

    for (const row& r : {row{"/lock", lock_kind::mutex, 3, 0},
                         row{"/nothing", lock_kind::none, 2, 0},
                         // 2, the lists of queue/ and permits/, 1 participant
                         row{"/semaphore", lock_kind::semaphore, 5, 1},
                         // no data of a child is read
                         row{"/dir", lock_kind::unknown, 2, 3}}) {
        SCOPED_TRACE(r.path);
        const auto watches = servers_.count(zk_.session_id()).watches_set;
        const costs c = cost_of([&] { EXPECT_EQ(inspect(zk_, r.path).kind, r.kind); });
        EXPECT_EQ(c.requests, r.requests);
        EXPECT_GE(c.exists, r.exists);
        EXPECT_EQ(servers_.count(zk_.session_id()).watches_set, watches);
    }
}

TEST_F(InspectRequests, BreakIsOneLookAndOneDelete) {
    const hold h = m_.acquire();
    const participant holder = first();
    const costs c = cost_of([&] { EXPECT_TRUE(break_hold(zk_, holder, "test")); });
    EXPECT_EQ(c.requests, 1U) << "the delete";
    EXPECT_GE(c.exists, 1U);
}

TEST_F(InspectRequests, BreakWhoseAnswerIsLostIsDoneOnce) {
    for (const auto when : {ensemble::when::before, ensemble::when::after}) {
        const hold h = m_.acquire();
        const participant holder = first();
        servers_.fail_next(ensemble::request_kind::remove, when, zk_.session_id());
        EXPECT_TRUE(break_hold(zk_, holder, "test"));
        EXPECT_FALSE(servers_.exists(holder.path));
        EXPECT_EQ(servers_.faults_to_come(), 0U);
    }
}

TEST_F(InspectRequests, BreakAfterALostAnswerSparesAnotherZnodeOfThatName) {
    servers_.create("/lock");
    servers_.create("/lock/_c_x-lock-0000000000");
    const participant before = first();
    servers_.fail_next(ensemble::request_kind::remove, ensemble::when::before, zk_.session_id());
    servers_.remove(before.path);
    servers_.create(before.path);
    EXPECT_FALSE(break_hold(zk_, before, "test")) << "it sends no delete at all";
    EXPECT_TRUE(servers_.exists(before.path));
    EXPECT_EQ(servers_.faults_to_come(), 1U);
}

TEST_F(InspectRequests, BreakLooksAgainWhenTheDataHasChangedMeanwhile) {
    const hold h = m_.acquire();
    const participant holder = first();
    constexpr int bad_version = -103;
    servers_.refuse_next(ensemble::request_kind::remove, bad_version, zk_.session_id());
    EXPECT_TRUE(break_hold(zk_, holder, "test"));
    EXPECT_FALSE(servers_.exists(holder.path));
}

TEST_F(InspectRequests, BreakDoesNotDeleteAZnodeThatHasChildren) {
    servers_.create("/lock");
    servers_.create("/lock/_c_x-lock-0000000000");
    servers_.create("/lock/_c_x-lock-0000000000/child");
    EXPECT_EQ(code_of([&](auto& ec) { return break_hold(zk_, first(), "test", ec); }),
              errc::not_empty);
}

TEST_F(InspectRequests, NeverShowTwoHoldersWhileTheLockChangesHands) {
    const std::jthread working([this](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            static_cast<void>(m_.acquire());
        }
    });
    for (int i = 0; i < 200; ++i) {
        const queue_view seen = inspect(zk_, "/lock");
        const auto holders = std::count_if(seen.participants.begin(),
                                           seen.participants.end(),
                                           [](const participant& p) { return p.holding; });
        EXPECT_LE(holders, 1);
        EXPECT_TRUE(holders == 0 || seen.participants.front().holding);
    }
}

TEST_F(InspectRequests, NeverShowMorePermitsThanThereAreWhileTheyChangeHands) {
    semaphore s(holders_, "/lock", 3);
    static_cast<void>(s.acquire());
    const auto work = [&s](const std::stop_token& stop, std::uint32_t permits) {
        while (!stop.stop_requested()) {
            static_cast<void>(s.acquire(permits));
        }
    };
    const std::jthread one(work, 1U);
    const std::jthread two(work, 2U);
    const std::jthread three(work, 3U);
    for (int i = 0; i < 100; ++i) {
        const queue_view seen = inspect(zk_, "/lock");
        EXPECT_EQ(seen.kind, lock_kind::semaphore);
        EXPECT_LE(seen.taken, 3U);
        std::uint64_t held = 0;
        for (const participant& p : seen.participants) {
            held += p.permits;
            EXPECT_EQ(p.holding, p.permits > 0);
        }
        EXPECT_LE(held, seen.taken);
    }
}

TEST_F(InspectRequests, SequenceLeftFollowsTheServersCounter) {
    servers_.create("/lock");
    servers_.set_sequence("/lock", 2'000'000'000);
    const hold h = m_.acquire();
    const auto left = inspect(zk_, "/lock").sequence_left;
    EXPECT_EQ(left, 0x7FFF'FFFFU - (1U << 20U) - 2'000'000'000U);
}

TEST_F(InspectRequests, ServersThatDoNotAnswerAreUnreachable) {
    client alone = servers_.connect({.session_timeout = 4s});
    ASSERT_TRUE(alone.wait_connected(30s));
    servers_.stop_server(0);
    EXPECT_EQ(
        code_of([&](auto& ec) { EXPECT_EQ(inspect(alone, "/lock", ec).kind, lock_kind::none); }),
        errc::unreachable);
}

}  // namespace
}  // namespace latchkey::test

#include <latchkey/ensemble.hpp>
#include <latchkey/leader_selector.hpp>
#include <latchkey/mutex.hpp>

#include "eventually.hpp"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

/// Selectors have a thread of their own: the ensemble runs by itself, and nothing is exact.
class LeaderSelectorFaults : public ::testing::Test {
protected:
    /// Works until it is to stop.
    static void work(const leadership& /*term*/, const std::stop_token& stop) {
        std::mutex m;
        std::unique_lock lock(m);
        std::condition_variable_any pause;
        pause.wait(lock, stop, [] { return false; });
    }

    client connect() { return ensemble_.connect({.session_timeout = 4s}); }

    testing::ensemble ensemble_;
};

TEST_F(LeaderSelectorFaults, ShortOutageIsLedThroughOrEndsTheTermAsThePolicySays) {
    client a = connect();
    client b = connect();
    leader_selector keeps(a, "/keeps", {}, work);
    leader_selector steps_down(
        b, "/steps-down", {.on_suspended = suspended_policy::step_down}, work);
    keeps.start();
    steps_down.start();
    ASSERT_TRUE(eventually([&] { return keeps.is_leader() && steps_down.is_leader(); }));
    const auto kept = keeps.term();
    const auto given_up = steps_down.term();
    ensemble_.cut(a.session_id());
    ensemble_.cut(b.session_id());
    // In this order: it is the leader until it has noticed.
    ASSERT_TRUE(
        eventually([&] { return given_up.lost().stop_requested() && steps_down.is_leader(); }));
    EXPECT_EQ(given_up.why_lost(), loss_reason::suspended);
    EXPECT_GT(steps_down.term().token(), given_up.token());
    EXPECT_TRUE(kept.valid());
}

TEST_F(LeaderSelectorFaults, StartsBeforeAServerIsThere) {
    for (int i = 0; i < 3; ++i) {
        ensemble_.stop_server(i);
    }
    client a = connect();
    leader_selector s(a, "/lead", {}, work);
    s.start();
    EXPECT_EQ(s.status(), selector_status::waiting);
    for (int i = 0; i < 3; ++i) {
        ensemble_.start_server(i);
    }
    EXPECT_TRUE(eventually([&] { return s.is_leader(); }));
}

TEST_F(LeaderSelectorFaults, ErrorOfAnotherClosedClientDoesNotEndTheCandidature) {
    client a = connect();
    client closed = connect();
    closed.close();
    std::atomic<int> calls = 0;
    std::atomic<int> reports = 0;
    leader_selector s(a,
                      "/lead",
                      {},
                      [&](const leadership&, const std::stop_token&) {
                          if (++calls < 3) {
                              mutex(closed, "/other").lock();
                          }
                      },
                      {.requeue = false, .failed = [&](const std::exception_ptr&) { ++reports; }});
    s.start();
    EXPECT_TRUE(eventually([&] { return calls == 3; }));
    EXPECT_TRUE(eventually([&] { return s.status() == selector_status::idle; }));
    EXPECT_EQ(reports, 2);
}

TEST_F(LeaderSelectorFaults, ClientThatGaveUpIsReportedOnceAndClosesTheSelector) {
    testing::ensemble::options how;
    how.tick = 1s;
    how.max_session_timeout = 2s;
    testing::ensemble impatient(how);
    client a = impatient.connect({.session_timeout = 30s, .tick = 4s});
    std::atomic<int> reports = 0;
    leader_selector s(
        a, "/lead", {}, work, {.failed = [&](const std::exception_ptr&) { ++reports; }});
    s.start();
    EXPECT_TRUE(eventually([&] { return s.status() == selector_status::closed; }));
    EXPECT_EQ(reports, 1);
}

}  // namespace
}  // namespace latchkey::test

#include <latchkey/ensemble.hpp>
#include <latchkey/leader_selector.hpp>
#include <latchkey/mutex.hpp>

#include "eventually.hpp"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

/// Selectors have a thread of their own: the ensemble runs by itself, and nothing is exact.
class LeaderSelectorFaults : public ::testing::Test {
protected:
    /// Two terms must never be valid at once. `check()` is called with a term at any time.
    class judge {
    public:
        void check(const leadership& term) {
            const std::lock_guard lock(mutex_);
            // In this order: it was valid while the newer one had been already.
            if (term.valid()) {
                EXPECT_GE(term.token(), newest_);
                newest_ = std::max(newest_, term.token());
            }
        }

    private:
        std::mutex mutex_;
        fencing_token newest_;
    };

    /// Works until it is to stop.
    leader_selector::work work() { return judged_by(judge_); }

    leader_selector::work judged_by(judge& who) {
        return [this, &who](const leadership& term, const std::stop_token& stop) {
            ++terms_;
            std::mutex m;
            std::unique_lock lock(m);
            std::condition_variable_any pause;
            while (!stop.stop_requested()) {
                who.check(term);
                pause.wait_for(lock, stop, 1ms, [] { return false; });
            }
            who.check(term);
        };
    }

    client connect() { return ensemble_.connect({.session_timeout = 4s}); }

    testing::ensemble ensemble_;
    judge judge_;
    std::atomic<int> terms_ = 0;
};

TEST_F(LeaderSelectorFaults, ShortOutageIsLedThroughOrEndsTheTermAsThePolicySays) {
    client a = connect();
    client b = connect();
    judge other;
    leader_selector keeps(a, "/keeps", {}, work());
    leader_selector steps_down(
        b, "/steps-down", {.on_suspended = suspended_policy::step_down}, judged_by(other));
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
    leader_selector s(a, "/lead", {}, work());
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
        a, "/lead", {}, work(), {.failed = [&](const std::exception_ptr&) { ++reports; }});
    s.start();
    EXPECT_TRUE(eventually([&] { return s.status() == selector_status::closed; }));
    EXPECT_EQ(reports, 1);
}

TEST_F(LeaderSelectorFaults, ManyLeadOneAfterTheOtherWhateverBreaks) {
    std::vector<client> clients;
    std::vector<std::unique_ptr<leader_selector>> all;
    std::atomic<int> thrown = 0;
    for (int i = 0; i < 3; ++i) {
        clients.push_back(connect());
        all.push_back(std::make_unique<leader_selector>(
            clients.back(),
            "/lead",
            leader_options{.id = std::to_string(i), .data = "x"},
            [&thrown, works = work(), i](const leadership& term, const std::stop_token& stop) {
                if (i == 0 && ++thrown % 2 == 0) {
                    throw std::runtime_error("every other time");
                }
                works(term, stop);
            }));
        all.back()->start();
    }
    ensemble_.inject({.cut_before = 0.01,
                      .cut_after = 0.01,
                      .interval = 50ms,
                      .cut = 0.3,
                      .suspend = 0.05,
                      .pause = 0.02,
                      .stop = 0.02,
                      .lasting = 300ms});
    const auto interrupt_all_but = [&](const leader_selector* kept) {
        for (const auto& one : all) {
            if (one.get() != kept) {
                one->interrupt();
            }
        }
    };
    const auto many_terms = [&] {
        interrupt_all_but(nullptr);
        return terms_ >= 300;
    };
    EXPECT_TRUE(eventually(many_terms, 120s));
    ensemble_.inject({});
    for (const auto& one : all) {
        const auto leads = [&] {
            interrupt_all_but(one.get());
            return one->is_leader();
        };
        EXPECT_TRUE(eventually(leads, 120s))
            << one->id() << ", which is " << to_string(one->status());
    }
}

}  // namespace
}  // namespace latchkey::test

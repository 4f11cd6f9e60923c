// prometheus.hpp: what is counted, and under which labels.
#include <latchkey/leader_latch.hpp>
#include <latchkey/prometheus.hpp>

#include "forked_child.hpp"
#include "sanitized.hpp"
#include "stepped_test.hpp"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class PrometheusMetrics : public SteppedTest {
protected:
    client observed(const prometheus_metrics& m) {
        client c = connected({.session_timeout = 12s, .observer = m.observer()});
        m.add(c, "test");
        return c;
    }

    static void expect_lines(const prometheus_metrics& m, const std::vector<std::string>& lines) {
        const std::string text = m.text();
        for (const std::string& line : lines) {
            EXPECT_THAT(text, HasSubstr(line + "\n"));
        }
    }
};

TEST_F(PrometheusMetrics, CountTheEventsAndTellTheStats) {
    const prometheus_metrics metrics;
    client c = observed(metrics);
    mutex m(c, "/lock");
    hold h = held(m);
    expect_lines(metrics, {R"(latchkey_held{client="test"} 1)"});
    ensemble_.run_for(2s);
    h.release();
    hold lost = held(m);
    const auto late = acquire(m, 1s);
    ASSERT_TRUE(ensemble_.run_until([&] { return late->done; }, 10s));
    ensemble_.remove(lost.path());
    ASSERT_TRUE(ensemble_.run_until([&] { return !lost.valid(); }, 20s));
    ensemble_.run_for(1s);

    const std::string exclusive = R"({lock="/lock",mode="exclusive")";
    expect_lines(metrics,
                 {"latchkey_acquire_seconds_count" + exclusive + R"(,outcome="acquired"} 2)",
                  "latchkey_acquire_seconds_count" + exclusive + R"(,outcome="not_in_time"} 1)",
                  "latchkey_hold_seconds_count" + exclusive + "} 2",
                  "latchkey_hold_seconds_bucket" + exclusive + R"(,le="5"} 2)",
                  R"(latchkey_lost_total{lock="/lock",why="znode_deleted"} 1)",
                  R"(latchkey_held{client="test"} 0)",
                  R"(latchkey_connected{client="test"} 1)",
                  R"(latchkey_sessions_total{client="test"} 1)",
                  "# TYPE latchkey_requests_total counter",
                  "# TYPE latchkey_validity_left_seconds gauge"});
    EXPECT_THAT(metrics.text(), HasSubstr(R"(latchkey_request_seconds_count{operation="multi"} )"));
}

TEST_F(PrometheusMetrics, TellWhetherThisProcessLeads) {
    const prometheus_metrics metrics;
    client c = observed(metrics);
    leader_latch latch(c, "/service");
    latch.start();
    ASSERT_TRUE(ensemble_.run_until([&] { return latch.is_leader(); }, 10s));
    ensemble_.run_for(1s);
    expect_lines(metrics, {R"(latchkey_leader{election="/service"} 1)"});
    latch.close();
    ensemble_.run_for(1s);
    expect_lines(metrics, {R"(latchkey_leader{election="/service"} 0)"});
    expect_lines(metrics, {R"(latchkey_leader_changes_total{election="/service"} 1)"});
}

TEST_F(PrometheusMetrics, UseTheUsersLabelsAndNotTooMany) {
    const prometheus_metrics by_kind([](std::string_view) { return std::string("accounts"); });
    const prometheus_metrics few({}, 2);
    client a = observed(by_kind);
    client b = observed(few);
    for (int i = 0; i < 4; ++i) {
        mutex m(a, "/accounts/" + std::to_string(i));
        held(m).release();
        mutex n(b, "/lock-" + std::to_string(i));
        held(n).release();
    }
    ensemble_.run_for(1s);
    expect_lines(by_kind, {R"(hold_seconds_count{lock="accounts",mode="exclusive"} 4)"});
    EXPECT_THAT(by_kind.text(), Not(HasSubstr("/accounts/")));
    expect_lines(few, {R"(hold_seconds_count{lock="/lock-1",mode="exclusive"} 1)"});
    expect_lines(few, {R"(hold_seconds_count{lock="other",mode="exclusive"} 2)"});
}

TEST_F(PrometheusMetrics, DoNotKeepAClientOpen) {
    const prometheus_metrics metrics;
    std::int64_t session = 0;
    {
        client c = observed(metrics);
        session = c.session_id();
    }
    ensemble_.run_for(5s);
    for (const auto& s : ensemble_.sessions()) {
        EXPECT_FALSE(s.id == session && s.alive);
    }
    expect_lines(metrics, {R"(latchkey_connected{client="test"} 0)"});
}

// A scrape in a child must not wait for what a thread of the parent was doing.
TEST_F(PrometheusMetrics, ReturnInAForkedChildWhereverAThreadWas) {
    if (sanitized) {
        GTEST_SKIP() << "a sanitizer's allocator may be locked in a child";
    }
    prometheus_metrics metrics;
    client c = observed(metrics);
    std::atomic<bool> stop{false};
    std::thread scraping([&] {
        while (!stop) {
            static_cast<void>(metrics.text());
        }
    });
    for (int i = 0; i < 20; ++i) {
        EXPECT_TRUE(holds_in_a_forked_child([&] {
            ::alarm(10);
            metrics.add(c, "child");
            metrics.observer()(event{.what = event_kind::acquired});
            return metrics.text().empty() && metrics.collectable()->Collect().empty();
        }));
    }
    stop = true;
    scraping.join();
}

}  // namespace
}  // namespace latchkey::test

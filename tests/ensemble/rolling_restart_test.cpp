// All servers are restarted, one after the other, while clients take turns at a lock.
#include "contest.hpp"
#include "eventually.hpp"
#include "held_intervals.hpp"
#include "real_ensemble.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

std::int64_t now() {
    return boottime_clock::now().time_since_epoch().count();
}

/// A client that takes one turn after the other, until it is destroyed.
class turn_taker {
public:
    turn_taker(const std::string& servers, const std::string& path, std::string effects)
        : client_(client::connect(servers, {.session_timeout = 10s})),
          lock_(client_, path),
          effects_(std::move(effects)),
          thread_([this](const std::stop_token& stop) { work(stop); }) {}

    [[nodiscard]] int turns() const { return count_; }

    [[nodiscard]] const intervals& finish() {
        thread_.request_stop();
        thread_.join();
        return turns_;
    }

private:
    void work(const std::stop_token& stop) {
        while (hold h = lock_.acquire({.stop = stop})) {
            held_interval t{.begin = now(), .end = 0, .token = h.token()};
            if (!h.valid()) {
                continue;
            }
            std::error_code failed;
            h.transact({operation::set(effects_, h.token().to_string())}, failed);
            t.end = now();
            if (!h.valid()) {
                t.end = t.begin;
            }
            turns_.push_back(t);
            ++count_;
        }
    }

    client client_;
    mutex lock_;
    std::string effects_;
    intervals turns_;
    std::atomic<int> count_ = 0;
    std::jthread thread_;
};

TEST(RollingRestart, ForgetsNobodyAndMakesNoTwoHolders) {
    real_ensemble& servers = real_ensemble::breakable();
    // A hold that lasts through it all.
    contest c({.holders_servers = servers.connect_string(),
               .other_servers = servers.connect_string(),
               .session_timeout = 30s});
    std::vector<std::unique_ptr<turn_taker>> all;
    for (int i = 0; i < 5; ++i) {
        all.push_back(std::make_unique<turn_taker>(
            servers.connect_string(), c.path() + "-turns", c.path() + "-effects"));
    }
    const auto everybody_had_a_turn = [&] {
        std::vector<int> before;
        std::transform(all.begin(), all.end(), std::back_inserter(before), [](const auto& one) {
            return one->turns();
        });
        return eventually([&] {
            return std::equal(all.begin(), all.end(), before.begin(), [](const auto& one, int had) {
                return one->turns() > had;
            });
        });
    };
    EXPECT_TRUE(everybody_had_a_turn());
    for (int server = 1; server <= servers.size(); ++server) {
        servers.restart(server);
        EXPECT_TRUE(everybody_had_a_turn()) << "without " << server;
        EXPECT_TRUE(c.first().valid());
    }

    intervals turns;
    for (const auto& one : all) {
        append(turns, one->finish());
    }
    EXPECT_EQ(not_one_after_the_other(turns), "");
    RecordProperty("turns", static_cast<int>(turns.size()));
    c.expect_kept();
}

}  // namespace
}  // namespace latchkey::test

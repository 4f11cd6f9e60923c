// A release wakes one waiter, whatever the number of those who wait, as the server counts it.
#include <latchkey/client.hpp>
#include <latchkey/mutex.hpp>

#include "eventually.hpp"
#include "real_ensemble.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

/// One of the server's counters, as `mntr` has it.
long counter(const real_ensemble& ensemble, const std::string& name) {
    const std::string all = '\n' + ensemble.four_letter_word(1, "mntr", 10s);
    const auto line = all.find('\n' + name + '\t');
    return line == std::string::npos ? -1 : std::stol(all.substr(line + name.size() + 2));
}

constexpr int clients = 10;
constexpr int waiters = 100;
constexpr int releases = 50;

TEST(Herd, OneWaiterOfAHundredIsWokenByARelease) {
    std::vector<hold> granted(waiters);
    std::atomic<int> queued = 0;
    std::atomic<int> grants = 0;
    real_ensemble ensemble({.servers = 1});
    const std::string path = real_ensemble::fresh_path();
    std::vector<client> sessions;
    for (int i = 0; i < clients; ++i) {
        // Long, so that hardly a ping and a heartbeat falls into the time that is counted.
        sessions.push_back(client::connect(ensemble.connect_string(), {.session_timeout = 60s}));
    }
    mutex first(sessions.front(), path);
    hold held = first.acquire();
    std::vector<std::unique_ptr<mutex>> queue;
    for (int i = 0; i < waiters; ++i) {
        queue.push_back(
            std::make_unique<mutex>(sessions[static_cast<std::size_t>(i % clients)], path));
        // One after the other, so that neighbours are of different sessions.
        queue.back()->async_acquire({.reserved = [&](const queue_position&) { ++queued; }},
                                    [&granted, &grants, i](std::error_code, hold h) {
                                        granted[static_cast<std::size_t>(i)] = std::move(h);
                                        ++grants;
                                    });
        ASSERT_TRUE(eventually([&] { return queued == i + 1; }));
    }
    // Two watches a waiter: on its predecessor and on its own znode.
    ASSERT_TRUE(eventually([&] { return counter(ensemble, "zk_watch_count") >= 2 * waiters; }))
        << counter(ensemble, "zk_watch_count");

    const auto begin = boottime_clock::now();
    const long before = counter(ensemble, "zk_packets_received");
    held.release();
    for (int i = 0; i < releases; ++i) {
        ASSERT_TRUE(eventually([&] { return grants == i + 1; }));
        granted[static_cast<std::size_t>(i)].release();
    }
    ASSERT_TRUE(eventually([&] { return grants == releases + 1; }));
    const long requests = counter(ensemble, "zk_packets_received") - before;

    // On a slow machine the sessions' pings and heartbeats are many: one each ten seconds at most.
    const auto rounds = (boottime_clock::now() - begin) / 10s + 1;
    // A release is a delete; who is woken lists, as it was not the next one when it last looked,
    // and the server counts the questions that are asked here. A herd would be a hundred each.
    EXPECT_LT(requests, 5 * releases + 2 * clients * rounds);
    EXPECT_GE(requests, releases);
}

}  // namespace
}  // namespace latchkey::test

// What one uncontended acquire and release costs this process, counted on the whole way: recipe,
// client, loop, adapter and C client, with a server of the in-process ensemble on the other side of
// a TCP port. The servers' thread is not counted.
#include <latchkey/client.hpp>
#include <latchkey/ensemble.hpp>
#include <latchkey/mutex.hpp>

#include "client/client_core.hpp"
#include "counted_calls.hpp"
#include "eventually.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <future>
#include <memory>
#include <numeric>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

constexpr int rounds = 500;

/// What is counted, in the order of `counted`.
constexpr std::array names{"allocations",
                           "epoll_wait",
                           "recv",
                           "send",
                           "setsockopt",
                           "timerfd_settime",
                           "epoll_ctl",
                           "waits for a condition"};

/// For each acquire and release.
using costs = std::array<double, names.size()>;

double of(const costs& c, counted what) {
    return c[static_cast<std::size_t>(what)];
}

double system_calls(const costs& c) {
    return std::accumulate(c.begin(), c.end(), 0.0) - of(c, counted::allocation) -
           of(c, counted::sleep);
}

class AcquirePath : public ::testing::Test {
protected:
    static testing::ensemble::options one_quick_server() {
        testing::ensemble::options how;
        how.servers = 1;
        how.one_way = 0ns;
        return how;
    }

    void SetUp() override {
        is_counted = true;
        count_on_the_loop(true);
    }

    void TearDown() override {
        is_counted = false;
        count_on_the_loop(false);
    }

    void count_on_the_loop(bool on) {
        std::promise<void> done;
        client_core::of(client_)->post([&] {
            is_counted = on;
            done.set_value();
        });
        done.get_future().get();
    }

    /// Runs it often enough that what happens only now and then does not count.
    costs costs_of(const std::function<void()>& cycle) {
        for (int i = 0; i < rounds; ++i) {
            cycle();
        }
        for (auto& c : counts) {
            c = 0;
        }
        for (int i = 0; i < rounds; ++i) {
            cycle();
        }
        costs all{};
        std::string words;
        for (std::size_t i = 0; i < all.size(); ++i) {
            all[i] = double(counts[i].load()) / rounds;
            words += std::to_string(all[i]) + ' ' + names[i] + ", ";
        }
        words += std::to_string(system_calls(all)) + " system calls";
        RecordProperty("cost", words);
        std::printf("%s\n", words.c_str());
        return all;
    }

    testing::ensemble ensemble_{one_quick_server()};
    const std::string servers_ = ensemble_.serve();
    client client_ = client::connect(servers_);
};

TEST_F(AcquirePath, OfABlockingAcquireAndAReleaseIsBounded) {
    mutex m(client_, "/lock");
    const costs c = costs_of([&] { m.acquire().release(); });
    EXPECT_LE(of(c, counted::allocation), 95);
    EXPECT_LE(system_calls(c), 40);
}

/// Not counted is what the C client keeps of two watches: about 400 bytes.
TEST_F(AcquirePath, OfAWaitingLockIsBoundedInMemory) {
    constexpr int locks = 1000;
    std::vector<std::unique_ptr<mutex>> held;
    std::vector<std::unique_ptr<mutex>> waiting;
    const auto path = [](int i) { return "/a-lock-that-waits/" + std::to_string(i); };
    const client other = client::connect(servers_);
    for (int i = 0; i < locks; ++i) {
        held.push_back(std::make_unique<mutex>(other, path(i)));
        held.back()->lock();
    }
    ASSERT_TRUE(eventually([&] { return ensemble_.open_watches() == locks; })) << "the holders'";
    const auto before = bytes_in_use.load();
    for (int i = 0; i < locks; ++i) {
        waiting.push_back(std::make_unique<mutex>(client_, path(i)));
        waiting.back()->async_acquire({}, [](std::error_code, const hold&) {});
    }
    ASSERT_TRUE(eventually([&] { return ensemble_.open_watches() == 3 * locks; }));
    // This answer comes after those that have set the watches.
    EXPECT_TRUE(waiting.back()->holder());
    const double each = double(bytes_in_use.load() - before) / locks;
    RecordProperty("bytes", std::to_string(each));
    std::printf("%.0f bytes\n", each);
    EXPECT_LE(each, 3700);
    client_.close();
}

}  // namespace
}  // namespace latchkey::test

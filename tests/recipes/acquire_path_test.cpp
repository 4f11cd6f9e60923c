// What one uncontended acquire and release costs this process, counted on the whole way: recipe,
// client, loop, adapter and C client, with a server of the in-process ensemble on the other side of
// a TCP port. The servers' thread is not counted.
#include <latchkey/client.hpp>
#include <latchkey/ensemble.hpp>
#include <latchkey/mutex.hpp>

#include "client/client_core.hpp"
#include "counted_calls.hpp"
#include "eventually.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

constexpr int rounds = 500;

/// For each acquire and release.
struct cost {
    double allocations = 0;
    double system_calls = 0;
    double waits = 0;
    double receives = 0;
    double sends = 0;
    double options = 0;
    double timers = 0;
    double signals = 0;
    double sleeps = 0;
};

double each(counted what) {
    return double(counts[std::size_t(what)].load()) / rounds;
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
    cost of(const std::function<void()>& cycle) {
        for (int i = 0; i < rounds; ++i) {
            cycle();
        }
        for (auto& c : counts) {
            c = 0;
        }
        for (int i = 0; i < rounds; ++i) {
            cycle();
        }
        cost c{.allocations = each(counted::allocation),
               .waits = each(counted::wait),
               .receives = each(counted::receive),
               .sends = each(counted::send),
               .options = each(counted::option),
               .timers = each(counted::timer),
               .signals = each(counted::signal),
               .sleeps = each(counted::sleep)};
        c.system_calls = c.waits + c.receives + c.sends + c.options + c.timers + c.signals;
        RecordProperty("cost", described(c));
        std::printf("%s\n", described(c).c_str());
        return c;
    }

    static std::string described(const cost& c) {
        return std::to_string(c.allocations) + " allocations, " + std::to_string(c.system_calls) +
               " system calls: " + std::to_string(c.waits) + " epoll_wait, " +
               std::to_string(c.receives) + " recv, " + std::to_string(c.sends) + " send, " +
               std::to_string(c.options) + " setsockopt, " + std::to_string(c.timers) +
               " timerfd_settime, " + std::to_string(c.signals) + " epoll_ctl; " +
               std::to_string(c.sleeps) + " waits for a condition";
    }

    testing::ensemble ensemble_{one_quick_server()};
    const std::string servers_ = ensemble_.serve();
    client client_ = client::connect(servers_);
};

TEST_F(AcquirePath, OfABlockingAcquireAndAReleaseIsBounded) {
    mutex m(client_, "/lock");
    const cost c = of([&] { m.acquire().release(); });
    EXPECT_LE(c.allocations, 95);
    EXPECT_LE(c.system_calls, 40);
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
    EXPECT_LE(each, 3600);
    client_.close();
}

}  // namespace
}  // namespace latchkey::test

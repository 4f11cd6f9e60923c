// What one uncontended acquire and release costs this process, counted on the whole way: recipe,
// client, loop, adapter and C client, with a server of the in-process ensemble on the other side of
// a TCP port. The servers' thread is not counted.
#include <latchkey/client.hpp>
#include <latchkey/ensemble.hpp>
#include <latchkey/mutex.hpp>

#include "client/client_core.hpp"
#include "counted_calls.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>

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
    client client_ = client::connect(ensemble_.serve());
};

TEST_F(AcquirePath, OfABlockingAcquireAndAReleaseIsBounded) {
    mutex m(client_, "/lock");
    const cost c = of([&] { m.acquire().release(); });
    EXPECT_LE(c.allocations, 120);
    EXPECT_LE(c.system_calls, 40);
}

}  // namespace
}  // namespace latchkey::test

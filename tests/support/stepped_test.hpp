#pragma once

#include <latchkey/ensemble.hpp>
#include <latchkey/lock_mode.hpp>
#include <latchkey/mutex.hpp>

#include "hold/hold_state.hpp"
#include "number_from.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include <gtest/gtest.h>

namespace latchkey::test {

using namespace std::chrono_literals;
using testing::ensemble;

/// What an asynchronous acquire of a stepped ensemble came to, and when.
struct attempt {
    bool done = false;
    std::error_code ec;
    hold granted;
    ensemble::duration at{};
};

/// On a stepped in-process ensemble: nothing happens but what a test lets happen, and time is
/// exact. What happens at one time comes in an order that the seed decides (LATCHKEY_SEED): a test
/// holds for each.
class SteppedTest : public ::testing::Test {
protected:
    static constexpr std::chrono::nanoseconds one_way = 1ms;  // there are halves of it
    static constexpr auto round_trip = 2 * one_way;

    static ensemble::options exact() {
        ensemble::options o;
        o.mode = ensemble::mode::stepped;
        o.one_way = one_way;
        o.seed = number_from("LATCHKEY_SEED", o.seed);
        return o;
    }

    explicit SteppedTest(const ensemble::options& o = exact()) : ensemble_(o) {}

    /// A client that is connected.
    client connected(client_options o = {.session_timeout = 12s}) {
        client c = ensemble_.connect(std::move(o));
        EXPECT_TRUE(ensemble_.run_until([&] { return c.session_id() != 0; }, 10s));
        return c;
    }

    /// Of anything that has a mutex's async_acquire().
    template <class Lock>
    std::shared_ptr<attempt> acquire(
        Lock& m,
        std::chrono::nanoseconds limit = std::chrono::nanoseconds::max(),
        acquire_options o = {}) {
        auto a = std::make_shared<attempt>();
        m.async_acquire(limit, std::move(o), keeps(a));
        return a;
    }

    /// Of a class whose async_acquire() takes first what is wanted: a mode, or a number of permits.
    template <class Lock, class What>
    std::shared_ptr<attempt> acquire_as(
        Lock& m,
        What what,
        std::chrono::nanoseconds limit = std::chrono::nanoseconds::max(),
        acquire_options o = {}) {
        auto a = std::make_shared<attempt>();
        m.async_acquire(what, limit, std::move(o), keeps(a));
        return a;
    }

    template <class Lock>
    std::shared_ptr<attempt> convert(
        Lock& m,
        hold h,
        lock_mode to,
        std::chrono::nanoseconds limit = std::chrono::nanoseconds::max()) {
        auto a = std::make_shared<attempt>();
        m.async_convert(std::move(h), to, limit, {}, keeps(a));
        return a;
    }

    /// What is waited for is granted.
    void expect_granted(const std::shared_ptr<attempt>& a, ensemble::duration limit = 60s) {
        ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, limit));
        EXPECT_FALSE(a->ec) << a->ec.message();
        EXPECT_TRUE(a->granted.valid());
    }

    [[nodiscard]] std::size_t in_queue(const std::string& path = "/lock") const {
        return ensemble_.children(path).size();
    }

    /// Acquires and waits for it.
    template <class Lock>
    hold held(Lock& m) {
        return hold_of(acquire(m));
    }

    template <class Lock, class What>
    hold held(Lock& m, What what) {
        return hold_of(acquire_as(m, what));
    }

    /// Lets everything that is on its way arrive, and forgets what was counted.
    void settle() {
        ensemble_.run_for(100ms);
        ensemble_.reset_counters();
    }

    ensemble ensemble_;

private:
    std::function<void(std::error_code, hold)> keeps(std::shared_ptr<attempt> a) {
        return [this, a = std::move(a)](std::error_code ec, hold h) {
            a->done = true;
            a->ec = ec;
            a->granted = std::move(h);
            a->at = ensemble_.now();
        };
    }

    hold hold_of(const std::shared_ptr<attempt>& a) {
        expect_granted(a);
        return std::move(a->granted);
    }
};

}  // namespace latchkey::test

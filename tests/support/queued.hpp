#pragma once

#include <latchkey/acquire_options.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/participant.hpp>

#include "eventually.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <stop_token>
#include <system_error>
#include <utility>

#include <gtest/gtest.h>

namespace latchkey::test {

/// An acquire on its way; its place in the queue is reserved when this returns. `wanted` is what
/// the recipe takes before a time limit: nothing, a mode, or a number of permits.
template <class Lock, class... Wanted>
[[nodiscard]] std::future<hold> queued_until(std::stop_token stop, Lock& lock, Wanted... wanted) {
    auto granted = std::make_shared<std::promise<hold>>();
    const auto reserved = std::make_shared<std::atomic<bool>>(false);  // reported for each path
    lock.async_acquire(wanted...,
                       std::chrono::nanoseconds::max(),
                       {.stop = std::move(stop),
                        .reserved = [reserved](const queue_position&) { *reserved = true; }},
                       [granted](std::error_code ec, hold h) {
                           EXPECT_FALSE(ec) << ec.message();
                           granted->set_value(std::move(h));
                       });
    EXPECT_TRUE(eventually([&] { return reserved->load(); }));
    return granted->get_future();
}

template <class Lock, class... Wanted>
[[nodiscard]] std::future<hold> queued(Lock& lock, Wanted... wanted) {
    return queued_until({}, lock, wanted...);
}

[[nodiscard]] inline bool is_granted(const std::future<hold>& h,
                                     std::chrono::milliseconds limit = {}) {
    return h.wait_for(limit) == std::future_status::ready;
}

}  // namespace latchkey::test

#pragma once

#include <latchkey/event.hpp>
#include <latchkey/function.hpp>

#include "session/runtime.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace latchkey::inline v0 {

/// Tells the user's observer of events, on a thread of its own, one at a time and in order. It
/// holds a bounded number of events, and drops those that come while it is full. Any thread.
class event_stream : public std::enable_shared_from_this<event_stream> {
public:
    using observer = std::function<void(const event&)>;

    static constexpr std::size_t capacity = 4096;

    event_stream(observer to, std::string client, runtime::executor run);

    /// `path` and `node` replace those of the event, which need not live longer than the call.
    void notify(const event& e, std::string path = {}, std::string node = {});

    /// Tells of nothing any more, destroys the observer, and then runs `done`, on the thread.
    void end(move_only_function<void()> done);

    /// Counts an event that could not be told.
    void drop() noexcept { dropped_.fetch_add(1, std::memory_order_relaxed); }

    [[nodiscard]] std::uint64_t dropped() const noexcept {
        return dropped_.load(std::memory_order_relaxed);
    }

private:
    observer observer_;  // on the thread only
    const std::string client_;
    const runtime::executor run_;
    std::atomic<bool> ended_{false};
    std::atomic<std::size_t> pending_{0};
    std::atomic<std::uint64_t> dropped_{0};
};

}  // namespace latchkey::inline v0

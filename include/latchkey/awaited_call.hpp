#pragma once

#include <latchkey/awaitable_handler.hpp>
#include <latchkey/error.hpp>

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

// The inside of awaitable.hpp. Programs do not use it.

namespace latchkey::inline v0 {

/// Requested when one of two tokens is.
struct either_stop {
    struct request {
        std::stop_source to;

        void operator()() const {
            std::stop_source kept = to;  // this object may be destroyed meanwhile
            kept.request_stop();
        }
    };

    either_stop(const std::stop_token& a, const std::stop_token& b)
        : first(a, request{requested}), second(b, request{requested}) {}

    std::stop_source requested;
    std::stop_callback<request> first;
    std::stop_callback<request> second;
};

/// One call that a coroutine waits for. The coroutine and the handler share it.
template <class T>
class awaited_call {
public:
    using value_type = typename awaitable_handler<T>::value_type;

    explicit awaited_call(std::coroutine_handle<> waiter) noexcept : waiter_(waiter) {}

    /// Returns whether the coroutine stays suspended. If it does, it may have been resumed by
    /// another thread already: nothing of its frame is touched here.
    template <class Awaitable>
    static bool start(std::shared_ptr<awaited_call> self, Awaitable a) {
        try {
            std::move(a).start(
                self->stop_.get_token(),
                awaitable_handler<T>(
                    [self](const error* e, value_type v) { self->complete(e, std::move(v)); },
                    self->stop_.get_token()));
        } catch (const error& e) {
            self->keep(&e, {});
            self->completed_inside_ = true;
            self->phase_ = phase::done;
        }
        self->starting_ = false;
        return !self->completed_inside_;
    }

    /// The coroutine does not wait any more.
    void abandon() {
        const phase before = phase_.exchange(phase::abandoned, std::memory_order_acq_rel);
        if (before == phase::pending) {
            stop_.request_stop();
        } else {
            value_.reset();
        }
    }

    [[nodiscard]] const std::optional<error>& failed() const noexcept { return error_; }

    [[nodiscard]] value_type take() { return *std::exchange(value_, std::nullopt); }

private:
    enum class phase : std::uint8_t { pending, done, abandoned };

    void keep(const error* e, value_type v) {
        if (e != nullptr) {
            error_.emplace(*e);
        }
        value_.emplace(std::move(v));
    }

    void complete(const error* e, value_type v) {
        keep(e, std::move(v));
        if (std::this_thread::get_id() == starter_ && starting_) {
            completed_inside_ = true;
            phase_ = phase::done;
            return;
        }
        phase expected = phase::pending;
        if (phase_.compare_exchange_strong(
                expected, phase::done, std::memory_order_acq_rel, std::memory_order_acquire)) {
            waiter_.resume();
        } else {
            value_.reset();
        }
    }

    const std::coroutine_handle<> waiter_;
    const std::thread::id starter_ = std::this_thread::get_id();
    bool starting_ = true;  ///< this and the next one: on the thread `starter_` only
    bool completed_inside_ = false;
    std::atomic<phase> phase_{phase::pending};
    std::stop_source stop_;
    std::optional<error> error_;
    std::optional<value_type> value_;
};

}  // namespace latchkey::inline v0

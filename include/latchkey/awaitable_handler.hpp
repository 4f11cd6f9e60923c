#pragma once

#include <latchkey/error.hpp>
#include <latchkey/function.hpp>

#include <stop_token>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>

namespace latchkey::inline v0 {

/// Receives the result of an awaitable call, once: `done(ec, value)`, or `done(ec)` if T is void.
/// `done(e, value)` with a latchkey::error keeps the message of the error. Converts to a
/// `move_only_function<void(std::error_code, T)>`.
template <class T>
class awaitable_handler {
public:
    using value_type = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

    /// Receives the error, or a null pointer. The error exists only during the call.
    using target = move_only_function<void(const error*, value_type)>;

    /// A request of `dropped` says that the coroutine has been destroyed.
    explicit awaitable_handler(target done, std::stop_token dropped = {}) noexcept
        : done_(std::move(done)), dropped_(std::move(dropped)) {}

    /// Requested: nobody receives the result.
    [[nodiscard]] const std::stop_token& dropped() const noexcept { return dropped_; }

    void operator()(std::error_code ec, value_type value) requires(!std::is_void_v<T>) {
        finish(ec, std::move(value));
    }

    void operator()(const error& e, value_type value) requires(!std::is_void_v<T>) {
        done_(&e, std::move(value));
    }

    void operator()(std::error_code ec) requires std::is_void_v<T> { finish(ec, {}); }

    void operator()(const error& e) requires std::is_void_v<T> { done_(&e, {}); }

private:
    void finish(std::error_code ec, value_type value) {
        if (ec) {
            const error e(ec, "an awaited call failed");
            done_(&e, std::move(value));
        } else {
            done_(nullptr, std::move(value));
        }
    }

    target done_;
    std::stop_token dropped_;
};

}  // namespace latchkey::inline v0

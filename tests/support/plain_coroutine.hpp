#pragma once

#include <coroutine>
#include <exception>
#include <utility>

namespace latchkey::test {

/// A coroutine that begins at once, belongs to this object, and is destroyed with it. An exception
/// that leaves it is kept.
class plain_coroutine {
public:
    struct promise_type {
        plain_coroutine get_return_object() {
            return plain_coroutine(std::coroutine_handle<promise_type>::from_promise(*this));
        }

        static std::suspend_never initial_suspend() noexcept { return {}; }

        static std::suspend_always final_suspend() noexcept { return {}; }

        void return_void() noexcept {}

        void unhandled_exception() noexcept { threw = std::current_exception(); }

        std::exception_ptr threw;
    };

    plain_coroutine(plain_coroutine&& other) noexcept
        : frame_(std::exchange(other.frame_, nullptr)) {}

    plain_coroutine& operator=(plain_coroutine&&) = delete;
    plain_coroutine(const plain_coroutine&) = delete;
    plain_coroutine& operator=(const plain_coroutine&) = delete;

    ~plain_coroutine() { destroy(); }

    void destroy() noexcept {
        if (const auto frame = std::exchange(frame_, nullptr)) {
            frame.destroy();
        }
    }

    /// On the thread where it continues.
    [[nodiscard]] bool done() const { return frame_.done(); }

    [[nodiscard]] std::exception_ptr threw() const { return frame_.promise().threw; }

private:
    explicit plain_coroutine(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}

    std::coroutine_handle<promise_type> frame_;
};

/// A coroutine that begins at once, and ends by itself.
struct detached_coroutine {
    struct promise_type {
        static detached_coroutine get_return_object() noexcept { return {}; }

        static std::suspend_never initial_suspend() noexcept { return {}; }

        static std::suspend_never final_suspend() noexcept { return {}; }

        void return_void() noexcept {}

        [[noreturn]] void unhandled_exception() noexcept { std::terminate(); }
    };
};

}  // namespace latchkey::test

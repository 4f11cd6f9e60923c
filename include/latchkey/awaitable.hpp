#pragma once

#include <latchkey/awaitable_handler.hpp>
#include <latchkey/awaited_call.hpp>
#include <latchkey/error.hpp>
#include <latchkey/function.hpp>

#include <coroutine>
#include <memory>
#include <stop_token>
#include <system_error>
#include <type_traits>
#include <utility>

namespace latchkey::inline v0 {

/// An asynchronous call that has not been started, for `co_await` in a coroutine of any type:
///
///     latchkey::hold h = co_await m.acquire_async(30s);
///     auto [ec, h] = co_await latchkey::with_error(m.acquire_async(30s));
///
/// - Result: `co_await` returns the T. It throws latchkey::error if the call fails.
/// - Lazy: the call starts with `co_await`. An awaitable that is destroyed before has no effect.
/// - Threads: the coroutine continues where the call's handler would run: on the client's callback
///   thread, or through client_options::executor. So blocking calls of this library fail there
///   with errc::would_deadlock, and long work belongs on another thread. A call that completes or
///   fails while it is being started continues on the thread that started it.
/// - Cancel: the stop token of the call's options ends it, with the result that its description
///   states.
/// - Destroying the coroutine while it waits cancels the call and returns at once. A result that
///   arrives later is destroyed: a hold that was granted is released. Destroy the coroutine where
///   it would continue. On another thread it could be continuing at that moment, which the
///   language does not allow: request a stop there, and let the coroutine end.
/// - An object can be awaited once: `co_await std::move(a)`, if it has a name.
/// - g++ 12 makes mistakes with temporaries in a statement that awaits. Options and operations in
///   braces are safe in all calls of this library: `co_await m.acquire_async(30s, {.stop = t})`,
///   `co_await h.transact_async({operation::set(path, text)})`. Give a name, in a statement before,
///   to what it destroys twice: a lambda that captures by value what has a destructor, a temporary
///   of `? :`, and every other structure in braces that has members with destructors, such as
///   lock_options. It does not compile an explicit `std::vector<operation>{...}`. It does not warn
///   if the result of a `co_await` is dropped, and a hold with it; clang does.
template <class T>
class [[nodiscard]] awaitable {
public:
    /// Starts the call. The token asks it to stop. It calls the handler once, on any thread and
    /// possibly before it returns, or throws.
    using initiation = move_only_function<void(std::stop_token, awaitable_handler<T>)>;

    /// `stop` is the token of the caller. The call gets a token that follows it.
    explicit awaitable(initiation start, std::stop_token stop = {}) noexcept
        : start_(std::move(start)), stop_(std::move(stop)) {}

    /// Starts the call without a coroutine, for adapters to other libraries. A request of `stop`
    /// cancels it too.
    void start(std::stop_token stop, awaitable_handler<T> done) && {
        if (!stop_.stop_possible() || !stop.stop_possible()) {
            start_(stop.stop_possible() ? std::move(stop) : std::move(stop_), std::move(done));
            return;
        }
        auto both = std::make_unique<either_stop>(stop, stop_);
        std::stop_token requested = both->requested.get_token();
        std::stop_token dropped = done.dropped();
        start_(std::move(requested),
               awaitable_handler<T>(
                   [both = std::move(both), done = std::move(done)](const error* e,
                                                                    value_type value) mutable {
                       both.reset();
                       pass(done, e, std::move(value));
                   },
                   std::move(dropped)));
    }

    auto operator co_await() && noexcept { return throwing_awaiter(std::move(*this)); }

private:
    using value_type = typename awaitable_handler<T>::value_type;

    template <class>
    friend class awaitable_with_error;

    static void pass(awaitable_handler<T>& to, const error* e, value_type value) {
        if constexpr (std::is_void_v<T>) {
            e != nullptr ? to(*e) : to(std::error_code());
        } else {
            e != nullptr ? to(*e, std::move(value)) : to(std::error_code(), std::move(value));
        }
    }

    class awaiter {
    public:
        explicit awaiter(awaitable a) noexcept : awaited_(std::move(a)) {}

        awaiter(const awaiter&) = delete;
        awaiter& operator=(const awaiter&) = delete;

        ~awaiter() {
            if (const auto abandoned = call_) {
                abandoned->abandon();
            }
        }

        [[nodiscard]] bool await_ready() const noexcept { return false; }

        // Inlined into the coroutine, its locals could lie in the frame, which may be gone by then.
        [[gnu::noinline]] bool await_suspend(std::coroutine_handle<> waiter) {
            auto made = std::make_shared<awaited_call<T>>(waiter);
            call_ = made;
            return awaited_call<T>::start(std::move(made), std::move(awaited_));
        }

    protected:
        awaitable awaited_;
        std::shared_ptr<awaited_call<T>> call_;
    };

    struct throwing_awaiter : awaiter {
        using awaiter::awaiter;

        T await_resume() {
            if (const auto& failed = this->call_->failed()) {
                throw error(*failed);
            }
            if constexpr (!std::is_void_v<T>) {
                return this->call_->take();
            }
        }
    };

    struct reporting_awaiter : awaiter {
        using awaiter::awaiter;

        [[nodiscard]] auto await_resume() {
            const auto& failed = this->call_->failed();
            const std::error_code ec = failed ? failed->code() : std::error_code();
            if constexpr (std::is_void_v<T>) {
                return ec;
            } else {
                return std::pair<std::error_code, T>(ec, this->call_->take());
            }
        }
    };

    initiation start_;
    std::stop_token stop_;
};

/// What with_error() returns.
template <class T>
class [[nodiscard]] awaitable_with_error {
public:
    explicit awaitable_with_error(awaitable<T> a) noexcept : awaited_(std::move(a)) {}

    auto operator co_await() && noexcept {
        return typename awaitable<T>::reporting_awaiter(std::move(awaited_));
    }

private:
    awaitable<T> awaited_;
};

/// Changes a call so that its `co_await` does not throw latchkey::error: it returns a
/// `std::pair<std::error_code, T>`, or the std::error_code alone if T is void.
template <class T>
[[nodiscard]] awaitable_with_error<T> with_error(awaitable<T> a) noexcept {
    return awaitable_with_error<T>(std::move(a));
}

}  // namespace latchkey::inline v0

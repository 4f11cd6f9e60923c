#pragma once

#include <latchkey/awaitable.hpp>
#include <latchkey/duration.hpp>
#include <latchkey/error.hpp>
#include <latchkey/function.hpp>

#include <chrono>
#include <stop_token>
#include <system_error>
#include <utility>

namespace latchkey::inline v0 {

/// The ways to wait that barrier and leader_latch have. `Result` is what a wait returns.
///
///     b.wait();                              // until it is so
///     b.wait_for(30s, stop, ec);             // for at most 30 s; an error goes to ec
///     b.async_wait({}, [](std::error_code ec, bool passed) { ... });
///     bool passed = co_await b.wait_async(30s);
///
/// - Returns: an empty or false result if the timeout is over or the caller requests a stop. If no
///   server was reached in the time, the call fails with errc::unreachable instead.
/// - Timeout: one for connecting, retrying and waiting. Any duration; zero or less looks once, for
///   at most the session timeout.
/// - Cancel: a stop request. Boost.Thread's interrupt() makes a blocking call throw
///   boost::thread_interrupted.
/// - Errors: a call with a last argument `std::error_code& ec` sets it; the others throw
///   latchkey::error.
template <class Recipe, class Result>
class wait_forms {
public:
    using wait_handler = move_only_function<void(std::error_code, Result)>;

    [[nodiscard]] Result wait(std::stop_token stop = {}, std::error_code& ec = throws()) {
        return self().wait_within(no_timeout, std::move(stop), ec);
    }

    [[nodiscard]] Result wait(std::error_code& ec) {
        return self().wait_within(no_timeout, {}, ec);
    }

    template <duration_like Duration>
    [[nodiscard]] Result wait_for(const Duration& timeout,
                                  std::stop_token stop = {},
                                  std::error_code& ec = throws()) {
        return self().wait_within(to_nanoseconds(timeout), std::move(stop), ec);
    }

    template <duration_like Duration>
    [[nodiscard]] Result wait_for(const Duration& timeout, std::error_code& ec) {
        return self().wait_within(to_nanoseconds(timeout), {}, ec);
    }

    template <time_point_like TimePoint>
    [[nodiscard]] Result wait_until(const TimePoint& deadline,
                                    std::stop_token stop = {},
                                    std::error_code& ec = throws()) {
        return self().wait_within(time_left(deadline), std::move(stop), ec);
    }

    /// wait() without blocking. `handler` is called exactly once, on the client's callback thread.
    void async_wait(std::stop_token stop, wait_handler handler) {
        self().start_wait(no_timeout, std::move(stop), std::move(handler));
    }

    template <duration_like Duration>
    void async_wait(const Duration& timeout, std::stop_token stop, wait_handler handler) {
        self().start_wait(to_nanoseconds(timeout), std::move(stop), std::move(handler));
    }

    /// wait() for coroutines: see awaitable.hpp. This object must live until the coroutine waits.
    [[nodiscard]] awaitable<Result> wait_async(std::stop_token stop = {}) {
        return begin_wait(no_timeout, std::move(stop));
    }

    template <duration_like Duration>
    [[nodiscard]] awaitable<Result> wait_async(const Duration& timeout, std::stop_token stop = {}) {
        return begin_wait(to_nanoseconds(timeout), std::move(stop));
    }

private:
    friend Recipe;
    wait_forms() = default;

    [[nodiscard]] Recipe& self() noexcept { return static_cast<Recipe&>(*this); }

    [[nodiscard]] awaitable<Result> begin_wait(std::chrono::nanoseconds timeout,
                                               std::stop_token stop) {
        return awaitable<Result>(
            [this, timeout](std::stop_token both, awaitable_handler<Result> handler) {
                self().start_wait(timeout, std::move(both), std::move(handler));
            },
            std::move(stop));
    }
};

}  // namespace latchkey::inline v0

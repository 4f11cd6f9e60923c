#pragma once

#include <latchkey/acquire_options.hpp>
#include <latchkey/awaitable.hpp>
#include <latchkey/duration.hpp>
#include <latchkey/error.hpp>
#include <latchkey/function.hpp>
#include <latchkey/hold.hpp>

#include <chrono>
#include <system_error>
#include <utility>

namespace latchkey::inline v0 {

/// The ways to acquire a lock, which all lock recipes have. `What` is what a call names first:
/// nothing (mutex, multi_mutex), a lock_mode (shared_mutex) or a number of permits (semaphore).
///
///     hold a = m.acquire();                        // waits
///     hold b = m.try_acquire();                    // only if it is free now
///     hold c = m.try_acquire_for(30s, ec);         // waits at most 30 s; an error goes to ec
///     m.async_acquire({}, [](std::error_code ec, hold h) { ... });
///     hold d = co_await m.acquire_async(30s);
///
/// - An empty hold without an error means: not acquired in time, or canceled by the caller's own
///   stop token. If no server was reached in the time, or the servers never confirmed that the
///   participant is in the queue, the call fails with errc::unreachable. For a call that waits for
///   another call of the same object, the confirmation of the other one counts.
/// - Blocks: until the lock is acquired, the timeout is over, the call is canceled, or it fails.
///   Continues to wait while the client is `suspended`. After `lost` it joins again at the tail.
/// - Timeout: one for connecting, retrying and waiting. Any duration; zero or less means
///   try_acquire(), a value beyond the clock's range means forever. The call may take up to a
///   second more, to prove that its znode is gone.
/// - Cancel: a stop request on options.stop makes it return an empty hold. Boost.Thread's
///   interrupt() makes a blocking call throw boost::thread_interrupted (this works only in programs
///   that load the same version of libboost_thread as Latchkey).
/// - Errors: errc::not_authorized, closed, authentication_failed, sequence_exhausted,
///   malformed_participant, quota_exceeded, ephemeral_parent, unreachable, forked, would_deadlock
///   (in a callback). A call with a last argument `std::error_code& ec` sets it and returns an
///   empty hold; the others throw latchkey::error. Contention is not an error.
/// - Afterwards: if no hold is returned, the participant's znode is gone, or the client repeats its
///   delete until it is.
template <class Recipe, class... What>
class acquire_forms {
public:
    /// Receives an error, or a hold, which is empty if it was not acquired.
    using acquire_handler = move_only_function<void(std::error_code, hold)>;

    /// Waits for the lock.
    [[nodiscard]] hold acquire(What... what,
                               acquire_options options = {},
                               std::error_code& ec = throws()) {
        return self().acquire_within(what..., no_timeout, std::move(options), ec);
    }

    [[nodiscard]] hold acquire(What... what, std::error_code& ec) {
        return self().acquire_within(what..., no_timeout, {}, ec);
    }

    /// Acquires the lock if it is free for this participant now, and otherwise returns an empty
    /// hold. It lists first: on a held lock it sends 1 request and writes nothing. The server that
    /// answers may be a moment behind and still show a holder that has left. Waits for the servers'
    /// answer for at most the session timeout.
    [[nodiscard]] hold try_acquire(What... what, std::error_code& ec = throws()) {
        return self().acquire_within(what..., std::chrono::nanoseconds::zero(), {}, ec);
    }

    /// acquire() with a timeout.
    template <duration_like Duration>
    [[nodiscard]] hold try_acquire_for(What... what,
                                       const Duration& timeout,
                                       acquire_options options = {},
                                       std::error_code& ec = throws()) {
        return self().acquire_within(what..., to_nanoseconds(timeout), std::move(options), ec);
    }

    template <duration_like Duration>
    [[nodiscard]] hold try_acquire_for(What... what, const Duration& timeout, std::error_code& ec) {
        return self().acquire_within(what..., to_nanoseconds(timeout), {}, ec);
    }

    /// acquire() with a deadline, by the deadline's own clock.
    template <time_point_like TimePoint>
    [[nodiscard]] hold try_acquire_until(What... what,
                                         const TimePoint& deadline,
                                         acquire_options options = {},
                                         std::error_code& ec = throws()) {
        return self().acquire_within(what..., time_left(deadline), std::move(options), ec);
    }

    template <time_point_like TimePoint>
    [[nodiscard]] hold try_acquire_until(What... what,
                                         const TimePoint& deadline,
                                         std::error_code& ec) {
        return self().acquire_within(what..., time_left(deadline), {}, ec);
    }

    /// acquire() without blocking. `handler` is called exactly once, on the client's callback
    /// thread. Throws errc::forked and closed.
    void async_acquire(What... what, acquire_options options, acquire_handler handler) {
        self().start_acquire(what..., no_timeout, std::move(options), std::move(handler));
    }

    template <duration_like Duration>
    void async_acquire(What... what,
                       const Duration& timeout,
                       acquire_options options,
                       acquire_handler handler) {
        self().start_acquire(
            what..., to_nanoseconds(timeout), std::move(options), std::move(handler));
    }

    /// acquire() for coroutines: see awaitable.hpp.
    [[nodiscard]] awaitable<hold> acquire_async(What... what, acquire_options options = {}) {
        return self().await_acquire(what..., no_timeout, std::move(options));
    }

    template <duration_like Duration>
    [[nodiscard]] awaitable<hold> acquire_async(What... what,
                                                const Duration& timeout,
                                                acquire_options options = {}) {
        return self().await_acquire(what..., to_nanoseconds(timeout), std::move(options));
    }

private:
    friend Recipe;
    acquire_forms() = default;

    [[nodiscard]] Recipe& self() noexcept { return static_cast<Recipe&>(*this); }
};

/// The forms of lock() that meet TimedLockable, for the guards of std and Boost. The hold is kept
/// inside the recipe: see held(). They throw what acquire() throws. lock() in a thread that has
/// locked this object already throws errc::would_deadlock; try_lock() returns false there. A guard
/// of std or Boost does not notice that its lock was lost: ask held().valid(), or use
/// latchkey::guard.
template <class Recipe>
class lock_forms {
public:
    void lock() { static_cast<void>(self().lock_within(no_timeout)); }

    [[nodiscard]] bool try_lock() { return self().lock_within(std::chrono::nanoseconds::zero()); }

    template <duration_like Duration>
    [[nodiscard]] bool try_lock_for(const Duration& timeout) {
        return self().lock_within(to_nanoseconds(timeout));
    }

    template <time_point_like TimePoint>
    [[nodiscard]] bool try_lock_until(const TimePoint& deadline) {
        return self().lock_within(time_left(deadline));
    }

private:
    friend Recipe;
    lock_forms() = default;

    [[nodiscard]] Recipe& self() noexcept { return static_cast<Recipe&>(*this); }
};

}  // namespace latchkey::inline v0

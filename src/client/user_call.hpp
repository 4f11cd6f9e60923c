#pragma once

#include <latchkey/awaitable.hpp>
#include <latchkey/function.hpp>

#include "client/client_core.hpp"
#include "client/unreachable.hpp"
#include "loop/blocking_result.hpp"
#include "session/failure.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <system_error>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {

/// What every call has, whatever its result is: a time limit, a stop token, and whether the servers
/// have confirmed it. Used on the loop only, unless noted. Whoever works for the call keeps it
/// alive until it has a result.
///
/// Not reached in time is a result only if the servers have confirmed the call, or if the caller
/// has canceled it. Otherwise the call fails as failure_in_time() says.
class limited_call : public std::enable_shared_from_this<limited_call> {
public:
    explicit limited_call(std::shared_ptr<client_core> core)
        : core_(std::move(core)), limit_(core_->loop()) {}

    limited_call(const limited_call&) = delete;
    limited_call& operator=(const limited_call&) = delete;
    virtual ~limited_call() = default;

    /// Gives it up, unless it has a result. Any thread.
    void cancel();

    /// Whether start() has succeeded. On the thread that called start().
    [[nodiscard]] bool started() const noexcept { return started_; }

    [[nodiscard]] const std::shared_ptr<client_core>& core() const noexcept { return core_; }

protected:
    /// Any thread; once.
    void start_within(std::chrono::nanoseconds patience,
                      bool only_looks,
                      const std::stop_token& stop);

    /// What it does first.
    virtual void begin() = 0;

    /// The time is over, or stop was requested, which may be before begin(). Once. Leads to the
    /// result.
    virtual void give_up() = 0;

    virtual void client_closed(const failure& why) = 0;

    [[nodiscard]] virtual call_aim aim() const = 0;

    /// Whether the servers have answered this call, so that it is known why it has to wait.
    [[nodiscard]] virtual bool is_confirmed() const = 0;

    [[nodiscard]] virtual bool finished() const noexcept = 0;

    /// Whether the limit was zero: the call only wants to know what is so now.
    [[nodiscard]] bool only_looks() const noexcept { return only_looks_; }

    /// No time counts any more, and no stop.
    void end_limits() noexcept;

    /// Of a call that ends without its aim, and without a failure.
    [[nodiscard]] failure why_not_reached() const;

private:
    void begin_within(std::chrono::nanoseconds patience);
    void out_of_time();

    const std::shared_ptr<client_core> core_;
    refusal_notes::time_point begun_{};
    bool started_ = false;
    bool only_looks_ = false;
    bool giving_up_ = false;
    bool unreachable_ = false;  ///< the time was over before it was confirmed
    timer limit_;
    std::stop_token stop_;
    std::unique_ptr<std::stop_callback<loop::task>> on_stop_;  ///< none if no stop can come
};

// Whether a value is what its call was for, or says that it was not reached.

[[nodiscard]] inline bool is_reached(bool value) noexcept {
    return value;
}

template <class T>
[[nodiscard]] bool is_reached(const std::shared_ptr<T>& value) noexcept {
    return value != nullptr;
}

template <class T>
[[nodiscard]] bool is_reached(const std::vector<T>& value) noexcept {
    return !value.empty();
}

/// One call, from its start to its result: a T, an empty T if it was not reached, or a failure. Its
/// blocking form, that with a handler and that for coroutines are below.
template <class T>
class user_call : public limited_call {
public:
    using value_type = T;

    struct result {
        failure why = {};
        T value = {};
    };

    using handler = std::function<void(result)>;

    using limited_call::limited_call;

    /// Any thread; once. A limit of zero means to look once, for as long as the session timeout.
    void start(std::chrono::nanoseconds limit, const std::stop_token& stop, handler done) {
        const bool looks = limit <= std::chrono::nanoseconds::zero();
        done_ = std::move(done);
        start_within(looks ? std::chrono::nanoseconds(core()->patience()) : limit, looks, stop);
    }

    /// As start() with a limit of zero, except that it looks for at most `patience`, if that is not
    /// zero and less than the session timeout.
    void look_for(std::chrono::nanoseconds patience, const std::stop_token& stop, handler done) {
        const std::chrono::nanoseconds longest = core()->patience();
        const bool is_bounded = patience > std::chrono::nanoseconds::zero() && patience < longest;
        done_ = std::move(done);
        start_within(is_bounded ? patience : longest, true, stop);
    }

protected:
    void finish(result r) {
        const auto self = shared_from_this();
        end_limits();
        if (!r.why && !is_reached(r.value)) {
            r.why = why_not_reached();
        }
        if (const auto done = std::exchange(done_, nullptr)) {
            note_end(r);
            done(std::move(r));
        }
    }

    void client_closed(const failure& why) override { finish({why}); }

    [[nodiscard]] bool finished() const noexcept final { return !done_; }

    /// Once, before the caller gets the result, whose thread may destroy this object then: no timer
    /// may run any more.
    virtual void note_end(const result& /*r*/) {}

private:
    handler done_;
};

/// Waits for the result. If the thread is interrupted, the call is given up first. Throws the error
/// that it fails with, and errc::forked, would_deadlock.
template <class Call>
typename Call::value_type wait_for(const std::shared_ptr<Call>& c,
                                   std::chrono::nanoseconds limit,
                                   const std::stop_token& stop) {
    using result = typename Call::result;
    c->core()->check_may_block();
    const auto got = std::make_shared<blocking_result<result>>();
    c->start(limit, stop, [got](result r) { got->set(std::move(r)); });
    result r = got->get_or([&] { c->cancel(); });
    r.why.raise();
    return std::move(r.value);
}

/// Waits for at most the session timeout. Throws errc::unreachable if the aim is not reached by
/// then.
template <class Call>
typename Call::value_type wait_for_answer(const std::shared_ptr<Call>& c) {
    return wait_for(c, std::chrono::nanoseconds::zero(), {});
}

/// `handler` runs on the callback thread. Throws errc::forked.
template <class Call>
void start_async(const std::shared_ptr<Call>& c,
                 std::chrono::nanoseconds limit,
                 const std::stop_token& stop,
                 move_only_function<void(std::error_code, typename Call::value_type)> handler) {
    c->core()->check_not_forked();
    c->start(limit,
             stop,
             [done = c->core()->callbacks().once(std::move(handler))](typename Call::result r) {
                 done(r.why.code, std::move(r.value));
             });
}

/// The form for coroutines of `call`, a member function of `of` that takes `with...` and a handler.
template <class T, class Of, class Call, class... With>
[[nodiscard]] awaitable<T> when_awaited(Of of, Call call, With... with) {
    return awaitable<T>([of = std::move(of), call, ... with = std::move(with)](
                            const std::stop_token&, awaitable_handler<T> handler) mutable {
        std::invoke(call, of, std::move(with)..., std::move(handler));
    });
}

/// As start_async(), for a new call without a limit. `handler` also receives the error of its
/// constructor.
template <class Call, class... Args>
void start_new(client_core& core,
               move_only_function<void(std::error_code, typename Call::value_type)> handler,
               Args&&... args) {
    std::shared_ptr<Call> made;
    try {
        made = std::make_shared<Call>(std::forward<Args>(args)...);
    } catch (const error& e) {
        core.callbacks().once(std::move(handler))(e.code(), {});
        return;
    }
    start_async(made, std::chrono::nanoseconds::max(), {}, std::move(handler));
}

}  // namespace latchkey::inline v0

#pragma once

#include "client/client_core.hpp"
#include "client/failure.hpp"
#include "loop/paced_retry.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <system_error>
#include <utility>

namespace latchkey {

/// One call that sends requests until something is so, from its start to its result, with a time
/// limit and a stop token. On the loop, but for what says otherwise; kept alive by the core until
/// its result.
///
/// What it does begins with session_connected(): at its start if there is a connection, and again
/// with each later one. Answers to what was sent before are dropped then.
class retrying_operation : public session_listener,
                           public std::enable_shared_from_this<retrying_operation> {
public:
    /// Reached, or not in time, or not at all.
    struct result {
        failure why;
        bool reached = false;
    };

    using handler = std::function<void(result)>;

    explicit retrying_operation(std::shared_ptr<client_core> core)
        : core_(std::move(core)), limit_(core_->loop()), retry_(core_->loop()) {}

    /// Any thread. No time at all means to look once; for that there is as long as a session.
    void start(std::chrono::nanoseconds limit, const std::stop_token& stop, handler done);

    /// Whether start() has succeeded. On the thread that called it.
    [[nodiscard]] bool started() const noexcept { return started_; }

    /// Any thread.
    void cancel();

    [[nodiscard]] const std::shared_ptr<client_core>& core() const noexcept { return core_; }

protected:
    /// What it does at its start.
    virtual void begin() {
        if (core_->connected()) {
            session_connected();
        }
    }

    /// The time is over, or a stop was requested: once, before the result.
    virtual void give_up() { finish({}); }

    /// Nothing more than a look was asked for, and this is what there is to see.
    [[nodiscard]] bool only_looks() const noexcept { return only_looks_; }

    [[nodiscard]] bool finished() const noexcept { return !done_; }

    void finish(result r);

    /// Begins again after a while, as with a new connection.
    void retry_later();

    /// After an answer that leaves the outcome open: the same, or with the next connection.
    void begin_again();

    /// Takes a step again, the first few times at once; with the next connection it begins again.
    void again_soon(std::function<void()> step);

    /// Answers to what was sent until now are dropped, and what was to begin again does not.
    void next_step() noexcept {
        ++step_;
        retry_.cancel();
    }

    template <class F>
    session::completion here(F f) {
        return [self = shared_from_this(), step = step_, f = std::move(f)](reply r) mutable {
            if (step == self->step_ && !self->finished()) {
                f(std::move(r));
            }
        };
    }

    void client_closed(const failure& why) override { finish({why, false}); }

private:
    void out_of_time();

    const std::shared_ptr<client_core> core_;
    handler done_;
    bool started_ = false;
    bool only_looks_ = false;
    bool unreachable_ = false;
    bool giving_up_ = false;
    std::uint64_t step_ = 0;
    timer limit_;
    paced_retry retry_;
    std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

/// Waits for the result: whether it was reached. When the thread is interrupted it is given up
/// first. Throws what it fails with, and errc::forked, would_deadlock.
bool wait_for(const std::shared_ptr<retrying_operation>& e,
              std::chrono::nanoseconds limit,
              const std::stop_token& stop);

/// Waits for as long as a session; throws errc::unreachable if it is not reached by then.
void wait_for_answer(const std::shared_ptr<retrying_operation>& e);

/// `handler` runs on the callback thread. Throws errc::forked.
void start_async(const std::shared_ptr<retrying_operation>& e,
                 std::chrono::nanoseconds limit,
                 const std::stop_token& stop,
                 std::function<void(std::error_code, bool)> handler);

}  // namespace latchkey

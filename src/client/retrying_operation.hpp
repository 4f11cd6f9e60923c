#pragma once

#include <latchkey/awaitable.hpp>
#include <latchkey/function.hpp>

#include "client/client_core.hpp"
#include "client/failure.hpp"
#include "client/unreachable.hpp"
#include "loop/paced_retry.hpp"
#include "loop/task.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>

namespace latchkey::inline v0 {

/// One call that sends requests until it has reached its aim, with a time limit and a stop token.
/// Used on the loop only, unless noted. The core keeps it alive until it has a result.
///
/// Its work is attempt(): begun at the start if there is a connection, and begun again with each
/// later connection. An attempt is dropped where it waits when another one begins, and with the
/// result.
///
/// Not reached in time is a result only if the servers have answered the call, or if the caller has
/// canceled it. Otherwise the call fails with unreachable_failure(). A call that only looks fails
/// so whenever its time is over, because an answer of use would have ended it.
class retrying_operation : public session_listener,
                           public std::enable_shared_from_this<retrying_operation> {
public:
    /// Reached; not reached in time; or failed.
    struct result {
        failure why;
        bool reached = false;
    };

    using handler = std::function<void(result)>;

    explicit retrying_operation(std::shared_ptr<client_core> core)
        : core_(std::move(core)), limit_(core_->loop()), retry_(core_->loop()) {}

    /// Any thread. A limit of zero means to look once, for as long as the session timeout.
    void start(std::chrono::nanoseconds limit, const std::stop_token& stop, handler done);

    /// Whether start() has succeeded. On the thread that called start().
    [[nodiscard]] bool started() const noexcept { return started_; }

    /// Any thread.
    void cancel();

    [[nodiscard]] const std::shared_ptr<client_core>& core() const noexcept { return core_; }

protected:
    /// How an attempt ended. Nothing: another one follows after a pause, or with the next
    /// connection.
    using attempted = std::optional<result>;

    /// Not for a call that only waits for another object.
    virtual task<attempted> attempt();

    /// What it does first.
    virtual void begin() {
        if (core_->connected()) {
            session_connected();
        }
    }

    void session_connected() override;

    /// The time is over, or stop was requested. Called once, before the result.
    virtual void give_up() { finish({}); }

    /// Once, before the caller gets the result, whose thread may destroy this object then: no timer
    /// may run any more.
    virtual void note_end(const failure& /*why*/) {}

    [[nodiscard]] virtual call_aim aim() const = 0;

    /// Whether the servers have answered this call since it began, so that it is known why it has
    /// to wait.
    [[nodiscard]] virtual bool is_answered() const { return answered_; }

    /// Sends a request of this call. Its answer counts for is_answered(), even after the attempt
    /// that has sent it.
    [[nodiscard]] oneshot<reply> ask(request r);

    /// Whether the limit was zero: the call only wants to know what is so now.
    [[nodiscard]] bool only_looks() const noexcept { return only_looks_; }

    [[nodiscard]] bool finished() const noexcept { return !done_; }

    /// Not from inside of an attempt.
    void finish(result r);

    /// Ends the attempt that is under way, if there is one. Not from inside of it.
    void drop_attempt() noexcept {
        running_.drop();
        retry_.cancel();
    }

    /// For an attempt: before it repeats a step that failed because something has changed
    /// meanwhile. The first few times there is no pause.
    [[nodiscard]] auto short_pause() { return retry_.short_pause(); }

    void client_closed(const failure& why) override { finish({why, false}); }

private:
    void out_of_time();

    const std::shared_ptr<client_core> core_;
    handler done_;
    refusal_notes::time_point called_{};
    bool started_ = false;
    bool only_looks_ = false;
    bool answered_ = false;
    bool unreachable_ = false;  ///< the time was over before an answer came
    bool giving_up_ = false;
    timer limit_;
    paced_retry retry_;
    running_task running_;
    std::stop_token stop_;
    std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

/// Waits for the result and returns whether the aim was reached. If the thread is interrupted, the
/// call is given up first. Throws the error that it fails with, and errc::forked, would_deadlock.
bool wait_for(const std::shared_ptr<retrying_operation>& e,
              std::chrono::nanoseconds limit,
              const std::stop_token& stop);

/// Waits for at most the session timeout. Throws errc::unreachable if the aim is not reached by
/// then.
void wait_for_answer(const std::shared_ptr<retrying_operation>& e);

/// `handler` runs on the callback thread. Throws errc::forked.
void start_async(const std::shared_ptr<retrying_operation>& e,
                 std::chrono::nanoseconds limit,
                 const std::stop_token& stop,
                 move_only_function<void(std::error_code, bool)> handler);

/// The same for a coroutine. `make` makes the call when it is awaited.
template <class Make>
[[nodiscard]] awaitable<bool> start_awaited(Make make,
                                            std::chrono::nanoseconds limit,
                                            std::stop_token users) {
    return awaitable<bool>(
        [make = std::move(make), limit](const std::stop_token& stop,
                                        awaitable_handler<bool> h) mutable {
            const std::shared_ptr<retrying_operation> e = make();
            e->core()->check_not_forked();
            e->start(limit,
                     stop,
                     [done = e->core()->callbacks().once(std::move(h))](
                         const retrying_operation::result& r) { done(r.why, r.reached); });
        },
        std::move(users));
}

}  // namespace latchkey::inline v0

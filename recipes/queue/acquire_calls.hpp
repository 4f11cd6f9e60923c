#pragma once

#include <latchkey/acquire_options.hpp>
#include <latchkey/awaitable.hpp>
#include <latchkey/function.hpp>
#include <latchkey/hold.hpp>

#include "queue/local_queue.hpp"

#include <chrono>
#include <memory>
#include <system_error>

namespace latchkey::inline v0 {

/// The forms of acquire that lock recipes have in common. Any thread.
class acquire_calls {
public:
    using handler = move_only_function<void(std::error_code, hold)>;

    /// Each call is a participant.
    explicit acquire_calls(std::shared_ptr<client_core> core)
        : queue_(std::make_shared<local_queue>(std::move(core), local_queue::admits::everybody)) {}

    /// One participant at a time, whose callers take turns in one place if `recipe` says so.
    acquire_calls(const std::shared_ptr<client_core>& core,
                  const std::shared_ptr<const queue_recipe>& recipe);

    /// Waits for the result. If the thread is interrupted, the call is canceled first.
    [[nodiscard]] hold acquire_within(const std::shared_ptr<const queue_recipe>& recipe,
                                      std::chrono::nanoseconds limit,
                                      acquire_options options) const;

    /// `handler` runs on the callback thread.
    void start_acquire(const std::shared_ptr<const queue_recipe>& recipe,
                       std::chrono::nanoseconds limit,
                       acquire_options options,
                       handler h) const;

    /// For a coroutine.
    [[nodiscard]] awaitable<hold> await_acquire(const std::shared_ptr<const queue_recipe>& recipe,
                                                std::chrono::nanoseconds limit,
                                                acquire_options options) const;

    /// Takes the lock only if no participant is ahead. Waits for the servers' answer for at most
    /// `patience`, if that is not zero and less than the session timeout. `done` is called on the
    /// loop.
    void try_acquire(const std::shared_ptr<const queue_recipe>& recipe,
                     std::chrono::nanoseconds patience,
                     acquire_options options,
                     acquire_call::handler done) const;

    [[nodiscard]] client_core& core() const noexcept { return *queue_->core(); }

private:
    std::shared_ptr<local_queue> queue_;
    std::shared_ptr<const void> in_use_;  ///< with turns: the last copy that goes ends them
};

}  // namespace latchkey::inline v0

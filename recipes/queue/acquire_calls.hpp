#pragma once

#include <latchkey/acquire_options.hpp>
#include <latchkey/awaitable.hpp>
#include <latchkey/function.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/lock_options.hpp>
#include <latchkey/participant.hpp>

#include "queue/local_queue.hpp"
#include "session/failure.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace latchkey::inline v0 {

/// Whether callers may hold after each other in one place of the queue.
enum class local_turns : std::uint8_t { refused, allowed };

/// Checks what the user gave for a lock, and returns how it takes part. `what` is the mode in its
/// znode's record (a literal; the name of its mode unless given). Throws errc::invalid_argument.
[[nodiscard]] queue_recipe queue_recipe_of(const client_core& core,
                                           std::string path,
                                           const queue_markers& markers,
                                           lock_options options,
                                           const char* what = nullptr,
                                           local_turns turns = local_turns::refused);

/// What the lock recipes have in common: the forms of acquire, and the list of participants. Any
/// thread.
class acquire_calls {
public:
    using handler = move_only_function<void(std::error_code, hold)>;

    acquire_calls(std::shared_ptr<client_core> core, local_queue::admits a)
        : queue_(std::make_shared<local_queue>(std::move(core), a)) {}

    /// One participant at a time, whose callers take turns in one place if `recipe` says so.
    acquire_calls(const std::shared_ptr<client_core>& core,
                  const std::shared_ptr<const queue_recipe>& recipe);

    /// Waits for a result. When the thread is interrupted the place in the queue is given up first.
    [[nodiscard]] hold acquire(const std::shared_ptr<const queue_recipe>& recipe,
                               std::chrono::nanoseconds limit,
                               acquire_options options) const;

    /// `handler` runs on the callback thread.
    void async_acquire(const std::shared_ptr<const queue_recipe>& recipe,
                       std::chrono::nanoseconds limit,
                       acquire_options options,
                       handler h) const;

    /// The same for a coroutine.
    [[nodiscard]] awaitable<hold> acquire_async(const std::shared_ptr<const queue_recipe>& recipe,
                                                std::chrono::nanoseconds limit,
                                                acquire_options options) const;

    /// Takes the lock only if no participant is ahead. Waits for the servers' answer for at most
    /// `patience`, if that is not zero and less than the session timeout. `done` is called on the
    /// loop.
    void try_acquire(const std::shared_ptr<const queue_recipe>& recipe,
                     std::chrono::nanoseconds patience,
                     acquire_options options,
                     acquire_call::handler done) const;

    [[nodiscard]] std::vector<participant> participants(const queue_recipe& recipe) const;
    [[nodiscard]] std::optional<participant> first(const queue_recipe& recipe) const;

    /// Asks a participant to give up its place; false if it has left. Throws errc::invalid_argument
    /// if `whom` is not a participant of a queue.
    [[nodiscard]] bool revoke(const queue_recipe& recipe, const participant& whom) const;

    /// The same of `whom` in `directory`, whatever it is called.
    [[nodiscard]] bool revoke_in(const std::string& directory, const participant& whom) const;

    [[nodiscard]] const std::shared_ptr<client_core>& core() const noexcept {
        return queue_->core();
    }

    /// Reads the znodes at `paths`; those that have gone are left out.
    [[nodiscard]] std::vector<participant> examine(const queue_recipe& recipe,
                                                   const std::vector<std::string>& paths) const;

private:
    std::shared_ptr<local_queue> queue_;
    std::shared_ptr<const void> in_use_;  ///< of turns: the place is not kept beyond it
};

}  // namespace latchkey::inline v0

#include "queue/acquire_calls.hpp"

#include "loop/interruption.hpp"

#include <type_traits>
#include <utility>

namespace latchkey::inline v0 {
namespace {

/// The handler of a canceled call gets no hold, also if it was granted before the loop learned of
/// the cancel.
template <class Handler>
Handler empty_if_canceled(std::stop_token stop, Handler h) {
    if (!stop.stop_possible()) {
        return h;
    }
    return Handler([stop = std::move(stop), h = std::move(h)](auto why, hold granted) mutable {
        if (stop.stop_requested()) {
            granted.release();
        }
        if constexpr (std::is_pointer_v<decltype(why)>) {
            why != nullptr ? h(*why, std::move(granted)) : h(std::error_code(), std::move(granted));
        } else {
            h(why, std::move(granted));
        }
    });
}

}  // namespace

acquire_calls::acquire_calls(const std::shared_ptr<client_core>& core,
                             const std::shared_ptr<const queue_recipe>& recipe)
    : queue_(std::make_shared<local_queue>(
          core,
          local_queue::admits::one_at_a_time,
          recipe->takes_turns() ? std::make_shared<place_turns>(core, recipe) : nullptr)) {
    if (recipe->takes_turns()) {
        in_use_ = {nullptr, [queue = queue_](std::nullptr_t) {
                       if (!queue->core()->forked()) {
                           queue->retire();
                       }
                   }};
    }
}

void acquire_calls::try_acquire(const std::shared_ptr<const queue_recipe>& recipe,
                                std::chrono::nanoseconds patience,
                                acquire_options options,
                                acquire_call::handler done) const {
    queue_->call(recipe, options.reserved)->look_for(patience, options.stop, std::move(done));
}

hold acquire_calls::acquire_within(const std::shared_ptr<const queue_recipe>& recipe,
                                   std::chrono::nanoseconds limit,
                                   acquire_options options) const {
    core().check_may_block();
    interruption_point();  // a call that takes a turn never blocks
    const std::stop_token stop = options.stop;
    if (!options.reserved.value() && !stop.stop_requested()) {
        if (hold turn = queue_->take_turn(); !is_empty(turn)) {
            return turn;
        }
    }
    hold granted = wait_for(queue_->call(recipe, options.reserved), limit, stop);
    return stop.stop_requested() ? hold() : std::move(granted);
}

void acquire_calls::start_acquire(const std::shared_ptr<const queue_recipe>& recipe,
                                  std::chrono::nanoseconds limit,
                                  acquire_options options,
                                  handler h) const {
    const std::stop_token stop = options.stop;
    core().check_not_forked();
    start_async(
        queue_->call(recipe, options.reserved), limit, stop, empty_if_canceled(stop, std::move(h)));
}

awaitable<hold> acquire_calls::await_acquire(const std::shared_ptr<const queue_recipe>& recipe,
                                             std::chrono::nanoseconds limit,
                                             acquire_options options) const {
    std::stop_token users = options.stop;
    return awaitable<hold>(
        [calls = *this, recipe, limit, reserved = options.reserved.value()](
            const std::stop_token& stop, awaitable_handler<hold> h) {
            calls.core().check_not_forked();
            calls.queue_->call(recipe, reserved)
                ->start(
                    limit,
                    stop,
                    [done = calls.core().callbacks().once(empty_if_canceled(stop, std::move(h)))](
                        acquire_call::result r) { done(std::move(r.why), std::move(r.value)); });
        },
        std::move(users));
}

}  // namespace latchkey::inline v0

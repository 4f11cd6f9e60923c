#include "queue/acquire_calls.hpp"

#include "client/blocking_read.hpp"
#include "loop/interruption.hpp"
#include "queue/participant_record.hpp"
#include "text/path.hpp"

#include <utility>

namespace latchkey::inline v0 {
namespace {

error no_participant(const participant& whom, const std::string& directory) {
    return error(
        errc::invalid_argument,
        '"' + escaped(whom.name) + "\" is not a participant of \"" + escaped(directory) + '"');
}

/// The handlers of a canceled call never get a hold, although it was granted before the loop had
/// heard of the cancel.
acquire_calls::handler empty_if_canceled(std::stop_token stop, acquire_calls::handler h) {
    if (!h || !stop.stop_possible()) {
        return h;
    }
    return [stop = std::move(stop), h = std::move(h)](std::error_code ec, hold granted) mutable {
        if (stop.stop_requested()) {
            granted.release();
        }
        h(ec, std::move(granted));
    };
}

awaitable_handler<hold> empty_if_canceled(std::stop_token stop, awaitable_handler<hold> h) {
    return awaitable_handler<hold>(
        [stop = std::move(stop), h = std::move(h)](const error* why, hold granted) mutable {
            if (stop.stop_requested()) {
                granted.release();
            }
            why != nullptr ? h(*why, std::move(granted)) : h(std::error_code(), std::move(granted));
        });
}

void check_times(const lock_options& options, const queue_markers& markers) {
    const auto zero = std::chrono::nanoseconds::zero();
    if (options.max_hold < zero || options.min_hold < zero || options.lock_delay < zero) {
        throw error(
            errc::invalid_argument,
            "a negative max_hold, min_hold or lock_delay: give a positive time, or zero for none");
    }
    if (options.lock_delay > longest_delay) {
        throw error(errc::invalid_argument, "a lock_delay of more than an hour: make it shorter");
    }
    if (options.lock_delay > zero && !markers.delays) {
        throw error(errc::invalid_argument,
                    "a lock_delay for a semaphore or a barrier: only locks have one; leave it out");
    }
    if (options.max_hold > zero && options.max_hold < options.min_hold) {
        throw error(errc::invalid_argument, "max_hold is shorter than min_hold: make it longer");
    }
}

bool has_turns(const lock_options& options) {
    const auto zero = std::chrono::nanoseconds::zero();
    return options.local_passes > 0 || options.local_time != zero || options.retain_for != zero;
}

void check_turns(const lock_options& options) {
    const auto zero = std::chrono::nanoseconds::zero();
    if (options.local_time < zero || options.retain_for < zero) {
        throw error(errc::invalid_argument,
                    "a negative local_time or retain_for: give a positive time, or zero for none");
    }
    if (options.local_time > zero && options.local_passes == 0) {
        throw error(errc::invalid_argument,
                    "a local_time without local_passes: give both, or only local_passes");
    }
    if (has_turns(options) && (options.max_hold > zero || options.min_hold > zero)) {
        throw error(errc::invalid_argument,
                    "local_passes or retain_for together with max_hold or min_hold: a place that "
                    "several holds use after each other has no such times; choose one of them");
    }
}

}  // namespace

queue_recipe queue_recipe_of(const client_core& core,
                             std::string path,
                             const queue_markers& markers,
                             lock_options options,
                             const char* what,
                             local_turns turns) {
    if (turns == local_turns::allowed) {
        check_turns(options);
    }
    check_path(path);
    if (options.data && options.data->size() > longest_record) {
        throw error(errc::invalid_argument,
                    "data of " + std::to_string(options.data->size()) +
                        " bytes is too long for a participant's znode: give at most " +
                        std::to_string(longest_record));
    }
    check_times(options, markers);
    if (turns == local_turns::refused && has_turns(options)) {
        throw error(errc::invalid_argument,
                    "local_passes, local_time or retain_for for \"" + escaped(path) +
                        "\": only mutexes and shared mutexes have them; leave them out");
    }
    queue_recipe recipe{.directory = std::move(path),
                        .markers = markers,
                        .access = access_for(core, std::move(options.access)),
                        .writer = record_writer::shared(),
                        .what = what};
    recipe.set_options([&options](queue_options& own) {
        own.data = std::move(options.data);
        own.max_hold = options.max_hold;
        own.min_hold = options.min_hold;
        own.lock_delay = std::chrono::ceil<std::chrono::milliseconds>(options.lock_delay);
        own.local_passes = options.local_passes;
        own.local_time = options.local_time;
        own.retain_for = options.retain_for;
    });
    return recipe;
}

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

hold acquire_calls::acquire(const std::shared_ptr<const queue_recipe>& recipe,
                            std::chrono::nanoseconds limit,
                            acquire_options options) const {
    core()->check_may_block();
    interruption_point();  // to take a turn blocks nowhere
    const std::stop_token stop = options.stop;
    if (!options.reserved.value() && !stop.stop_requested()) {
        if (hold turn = queue_->take_turn(); !is_empty(turn)) {
            return turn;
        }
    }
    hold granted = wait_for(queue_->call(recipe, options.reserved), limit, stop);
    return stop.stop_requested() ? hold() : std::move(granted);
}

void acquire_calls::async_acquire(const std::shared_ptr<const queue_recipe>& recipe,
                                  std::chrono::nanoseconds limit,
                                  acquire_options options,
                                  handler h) const {
    const std::stop_token stop = options.stop;
    core()->check_not_forked();
    start_async(
        queue_->call(recipe, options.reserved), limit, stop, empty_if_canceled(stop, std::move(h)));
}

awaitable<hold> acquire_calls::acquire_async(const std::shared_ptr<const queue_recipe>& recipe,
                                             std::chrono::nanoseconds limit,
                                             acquire_options options) const {
    std::stop_token users = options.stop;
    return awaitable<hold>(
        [calls = *this, recipe, limit, reserved = options.reserved.value()](
            const std::stop_token& stop, awaitable_handler<hold> h) {
            calls.core()->check_not_forked();
            calls.queue_->call(recipe, reserved)
                ->start(
                    limit,
                    stop,
                    [done = calls.core()->callbacks().once(empty_if_canceled(stop, std::move(h)))](
                        acquire_call::result r) { done(std::move(r.why), std::move(r.value)); });
        },
        std::move(users));
}

// ---- participants ----

std::vector<participant> acquire_calls::examine(const queue_recipe& recipe,
                                                const std::vector<std::string>& paths) const {
    std::vector<participant> found;
    for (auto& [path, znode] : read_znodes(*core(), paths, longest_participant_data)) {
        found.push_back(participant_from(path, recipe.markers, std::move(znode)));
    }
    return found;
}

std::vector<participant> acquire_calls::participants(const queue_recipe& recipe) const {
    const auto names = in_order(read_children(*core(), recipe.directory), recipe.markers);
    return examine(recipe, paths_in(recipe.directory, names));
}

std::optional<participant> acquire_calls::first(const queue_recipe& recipe) const {
    const auto names = in_order(read_children(*core(), recipe.directory), recipe.markers);
    for (const std::string& path : paths_in(recipe.directory, names)) {
        if (auto found = examine(recipe, {path}); !found.empty()) {
            return std::move(found.front());
        }
    }
    return std::nullopt;
}

bool acquire_calls::revoke(const queue_recipe& recipe, const participant& whom) const {
    if (place_of(whom.name, recipe.markers).what != queue_place::standing::participant) {
        throw no_participant(whom, recipe.directory);
    }
    return revoke_in(recipe.directory, whom);
}

bool acquire_calls::revoke_in(const std::string& directory, const participant& whom) const {
    const std::string path = join_path(directory, whom.name);
    if (name_of(path) != whom.name || !path_problem(path).empty()) {
        throw no_participant(whom, directory);
    }
    const reply r = blocking_read(*core(), request::set(path, std::string(revocation_request)));
    failure_of(r.code, path, request::kind::set)
        .raise_unless(r.ok() || r.code == result_code::no_node);
    return r.ok();
}

}  // namespace latchkey::inline v0

#include "queue/queue_recipe.hpp"

#include "text/path.hpp"

#include <utility>

namespace latchkey::inline v0 {
namespace {

constexpr auto no_time = std::chrono::nanoseconds::zero();

void refuse_if(bool wrong, const char* why) {
    if (wrong) {
        throw error(errc::invalid_argument, why);
    }
}

void check_times(const lock_options& options, const queue_markers& markers) {
    refuse_if(
        options.max_hold < no_time || options.min_hold < no_time || options.lock_delay < no_time,
        "a negative max_hold, min_hold or lock_delay: give a positive time, or zero for none");
    refuse_if(options.lock_delay > longest_delay,
              "a lock_delay of more than an hour: make it shorter");
    refuse_if(options.lock_delay > no_time && !markers.delays,
              "a lock_delay for a semaphore or a barrier: only locks have one; leave it out");
    refuse_if(options.max_hold > no_time && options.max_hold < options.min_hold,
              "max_hold is shorter than min_hold: make it longer");
}

bool has_turns(const lock_options& options) {
    return options.local_passes > 0 || options.local_time != no_time ||
           options.retain_for != no_time;
}

void check_turns(const lock_options& options) {
    refuse_if(options.local_time < no_time || options.retain_for < no_time,
              "a negative local_time or retain_for: give a positive time, or zero for none");
    refuse_if(options.local_time > no_time && options.local_passes == 0,
              "a local_time without local_passes: give both, or only local_passes");
    refuse_if(has_turns(options) && (options.max_hold > no_time || options.min_hold > no_time),
              "local_passes or retain_for together with max_hold or min_hold: a place that several "
              "holds use after each other has no such times; choose one of them");
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

}  // namespace latchkey::inline v0

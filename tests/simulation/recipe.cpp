#include "recipe.hpp"

#include <latchkey/error.hpp>
#include <latchkey/mutex.hpp>

#include "judge.hpp"
#include "leader_recipe.hpp"
#include "meeting_recipe.hpp"
#include "multi_mutex_recipe.hpp"
#include "permit_recipe.hpp"
#include "selector_recipe.hpp"
#include "shared_mutex_recipe.hpp"
#include "stage.hpp"
#include "worker.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace latchkey::simulation {
namespace {

class mutex_recipe final : public lock_recipe {
public:
    std::unique_ptr<used_object> make(stage& s,
                                      client& c,
                                      const std::vector<std::string>& paths) const override {
        return make_used_mutex(c, paths.front(), draw_times_and_turns(s));
    }

    std::unique_ptr<judge> judge_of(stage& s) const override { return std::make_unique<judge>(s); }

    /// Somebody keeps data of his own in the directory, or empties it.
    void meanwhile(stage& s, const plan::object& o) const override {
        if (s.what.scribbles <= 0 || !s.random("meanwhile").chance(s.what.scribbles)) {
            return;
        }
        try {
            s.servers.set(o.directory,
                          s.random("meanwhile").chance(0.3) ? "of another program" : "");
        } catch (const error&) {  // it is not there yet, or there is no leader
        }
    }
};

struct entry {
    recipe_kind kind;
    const char* name;
    const lock_recipe& how;
};

template <class Recipe>
const Recipe& the() {
    static const Recipe only;
    return only;
}

/// In the order of recipe_kind.
const auto& recipes() {
    static const std::array all{
        entry{recipe_kind::mutex, "mutex", the<mutex_recipe>()},
        entry{recipe_kind::shared_mutex, "shared_mutex", the<shared_mutex_recipe>()},
        entry{recipe_kind::semaphore, "semaphore", the<semaphore_recipe>()},
        entry{recipe_kind::curator_semaphore, "curator_semaphore", the<curator_semaphore_recipe>()},
        entry{recipe_kind::multi_mutex, "multi_mutex", the<multi_mutex_recipe>()},
        entry{recipe_kind::leader_latch, "leader_latch", the<leader_recipe>()},
        entry{recipe_kind::leader_selector, "leader_selector", the<selector_recipe>()},
        entry{recipe_kind::barrier, "barrier", the<barrier_recipe>()},
        entry{recipe_kind::double_barrier, "double_barrier", the<double_barrier_recipe>()},
        entry{recipe_kind::group, "group", the<group_recipe>()}};
    return all;
}

const entry& entry_of(recipe_kind k) {
    return recipes().at(static_cast<std::size_t>(k));
}

}  // namespace

std::unique_ptr<used_object> make_used_mutex(client& c,
                                             const std::string& path,
                                             const lock_options& times) {
    return std::make_unique<used_lock<mutex>>(c, path, times);
}

/// A shortest time is added to each turn, and a delay to many: they are small beside what the end
/// of a run allows for.
lock_options draw_times(stage& s, bool may_delay) {
    lock_options drawn;
    if (!s.what.timed) {
        return drawn;
    }
    const duration timeout = s.what.session_timeout;
    if (s.random("draw_times").chance(0.5)) {
        const duration most = s.random("draw_times").chance(0.5) ? s.what.longest_hold : timeout;
        drawn.max_hold = timeout / 50 + s.up_to("draw_times", most);
    }
    if (s.random("draw_times").chance(0.5)) {
        const duration most = timeout / 8;
        drawn.min_hold = s.up_to(
            "draw_times", drawn.max_hold > duration{} ? std::min(most, drawn.max_hold) : most);
    }
    if (may_delay && s.random("draw_times").chance(0.5)) {
        drawn.lock_delay = std::chrono::milliseconds(1) + s.up_to("draw_times", timeout / 4);
    }
    return drawn;
}

lock_options draw_times_and_turns(stage& s) {
    lock_options drawn = draw_times(s);
    if (!s.what.turns) {
        return drawn;
    }
    const duration timeout = s.what.session_timeout;
    if (s.random("turns").chance(0.7)) {
        drawn.local_passes = static_cast<std::uint32_t>(1 + s.random("turns").below(4));
        drawn.local_time = s.random("turns").chance(0.3)
                               ? s.up_to("draw_times_and_turns", timeout / 2)
                               : duration{};
    }
    if (s.random("draw_times_and_turns").chance(0.6)) {
        drawn.retain_for = s.up_to("draw_times_and_turns", timeout);
    }
    if (s.random("draw_times_and_turns").chance(0.2)) {
        drawn.lock_delay =
            std::chrono::milliseconds(1) + s.up_to("draw_times_and_turns", timeout / 4);
    }
    return drawn;
}

std::shared_ptr<caller> lock_recipe::make_caller(program& of,
                                                 std::size_t object,
                                                 std::string name) const {
    return std::make_shared<worker>(of, object, std::move(name));
}

void used_object::convert(hold h, lock_mode, limit, acquire_options, handler done) {
    done({}, std::move(h));
}

std::string to_string(const wish& w) {
    return (w.mode == lock_mode::exclusive ? "" : std::string(" ") + latchkey::to_string(w.mode)) +
           (w.permits == 1 ? "" : ' ' + std::to_string(w.permits) + " permits");
}

const char* to_string(recipe_kind k) noexcept {
    return entry_of(k).name;
}

std::optional<recipe_kind> recipe_kind_of(std::string_view name) noexcept {
    const auto& all = recipes();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const entry& e) { return e.name == name; });
    return found == all.end() ? std::nullopt : std::optional(found->kind);
}

const lock_recipe& recipe_of(recipe_kind k) {
    return entry_of(k).how;
}

}  // namespace latchkey::simulation

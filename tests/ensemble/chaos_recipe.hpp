#pragma once

#include "history.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace latchkey::test {

/// What the processes of a chaos run take turns with.
enum class recipe : std::uint8_t {
    mutex,
    recursive_mutex,
    kept_mutex,   ///< that the threads of a process share, with local_passes and retain_for
    multi_mutex,  ///< now and then one path alone, as a mutex
    shared_mutex,
    semaphore,
    curator_semaphore,
    double_barrier,
    leader_latch,     ///< and observers
    leader_selector,  ///< and observers; some processes use a mutex on the same paths
};

struct recipe_entry {
    recipe what;
    const char* name;
    history::layout laid_out = history::layout::one_at_a_time;
};

/// In the order of `recipe`.
inline constexpr std::array recipe_table{
    recipe_entry{recipe::mutex, "mutex"},
    recipe_entry{recipe::recursive_mutex, "recursive_mutex"},
    recipe_entry{recipe::kept_mutex, "kept_mutex"},
    recipe_entry{recipe::multi_mutex, "multi_mutex"},
    recipe_entry{recipe::shared_mutex, "shared_mutex", history::layout::readers_writer},
    recipe_entry{recipe::semaphore, "semaphore", history::layout::semaphore},
    recipe_entry{
        recipe::curator_semaphore, "curator_semaphore", history::layout::curator_semaphore},
    recipe_entry{recipe::double_barrier, "double_barrier", history::layout::rounds},
    recipe_entry{recipe::leader_latch, "leader_latch", history::layout::election},
    recipe_entry{recipe::leader_selector, "leader_selector"}};

inline constexpr auto all_recipes = [] {
    std::array<recipe, recipe_table.size()> all{};
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = recipe_table[i].what;
    }
    return all;
}();

[[nodiscard]] constexpr const char* to_string(recipe r) noexcept {
    return recipe_table[static_cast<std::size_t>(r)].name;
}

[[nodiscard]] constexpr history::layout layout_of(recipe r) noexcept {
    return recipe_table[static_cast<std::size_t>(r)].laid_out;
}

[[nodiscard]] constexpr std::optional<recipe> recipe_named(std::string_view name) noexcept {
    for (const recipe_entry& e : recipe_table) {
        if (e.name == name) {
            return e.what;
        }
    }
    return std::nullopt;
}

/// How many permits a semaphore has at first, and one of Curator's always.
inline constexpr std::uint32_t permits_at_first = 4;

/// How many make a round of a double barrier.
inline constexpr std::uint32_t round_size = 3;

}  // namespace latchkey::test

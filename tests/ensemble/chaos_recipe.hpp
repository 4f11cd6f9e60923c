#pragma once

#include "history.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace latchkey::test {

/// What the processes of a chaos run take turns with.
enum class recipe : std::uint8_t {
    mutex,
    recursive_mutex,
    multi_mutex,  ///< now and then one path alone, as a mutex
    shared_mutex,
    semaphore,
    curator_semaphore,
    double_barrier,
    leader_latch,     ///< and observers
    leader_selector,  ///< and observers; some processes use a mutex on the same paths
};

inline constexpr std::array all_recipes{recipe::mutex,
                                        recipe::recursive_mutex,
                                        recipe::multi_mutex,
                                        recipe::shared_mutex,
                                        recipe::semaphore,
                                        recipe::curator_semaphore,
                                        recipe::double_barrier,
                                        recipe::leader_latch,
                                        recipe::leader_selector};

[[nodiscard]] const char* to_string(recipe r) noexcept;
[[nodiscard]] std::optional<recipe> recipe_named(std::string_view name) noexcept;
[[nodiscard]] history::layout layout_of(recipe r) noexcept;

/// How many permits a semaphore has at first, and one of Curator's always.
inline constexpr std::uint32_t permits_at_first = 4;

/// How many make a round of a double barrier.
inline constexpr std::uint32_t round_size = 3;

}  // namespace latchkey::test

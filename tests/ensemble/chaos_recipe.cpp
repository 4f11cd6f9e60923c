#include "chaos_recipe.hpp"

#include <algorithm>

namespace latchkey::test {

const char* to_string(recipe r) noexcept {
    switch (r) {
        case recipe::mutex:
            return "mutex";
        case recipe::recursive_mutex:
            return "recursive_mutex";
        case recipe::multi_mutex:
            return "multi_mutex";
        case recipe::shared_mutex:
            return "shared_mutex";
        case recipe::semaphore:
            return "semaphore";
        case recipe::curator_semaphore:
            return "curator_semaphore";
        case recipe::double_barrier:
            return "double_barrier";
        case recipe::leader_latch:
            return "leader_latch";
        case recipe::leader_selector:
            return "leader_selector";
    }
    return "?";
}

std::optional<recipe> recipe_named(std::string_view name) noexcept {
    const auto found = std::find_if(
        all_recipes.begin(), all_recipes.end(), [&](recipe r) { return to_string(r) == name; });
    return found == all_recipes.end() ? std::nullopt : std::optional(*found);
}

history::layout layout_of(recipe r) noexcept {
    switch (r) {
        case recipe::shared_mutex:
            return history::layout::readers_writer;
        case recipe::semaphore:
            return history::layout::semaphore;
        case recipe::curator_semaphore:
            return history::layout::curator_semaphore;
        case recipe::double_barrier:
            return history::layout::rounds;
        case recipe::leader_latch:
            return history::layout::election;
        default:
            return history::layout::one_at_a_time;
    }
}

}  // namespace latchkey::test

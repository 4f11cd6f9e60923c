#include "chaos_recipe.hpp"

#include <algorithm>

namespace latchkey::test {

std::optional<recipe> recipe_named(std::string_view name) noexcept {
    const auto* const found = std::find_if(recipe_table.begin(),
                                           recipe_table.end(),
                                           [&](const recipe_entry& e) { return e.name == name; });
    return found == recipe_table.end() ? std::nullopt : std::optional(found->what);
}

}  // namespace latchkey::test

#pragma once

#include "recipe.hpp"

namespace latchkey::simulation {

/// Members of groups, and those who watch them.
class group_recipe final : public callers_recipe {
public:
    [[nodiscard]] std::shared_ptr<caller> make_caller(program& of,
                                                      std::size_t object,
                                                      std::string name) const override;
    [[nodiscard]] std::unique_ptr<judge> judge_of(stage& s) const override;

    [[nodiscard]] naming names() const override { return {.any_child = true}; }
};

}  // namespace latchkey::simulation

#pragma once

#include "recipe.hpp"

namespace latchkey::simulation {

/// Barriers that some set and remove, and others wait for.
class barrier_recipe final : public lock_recipe {
public:
    /// Nobody uses objects that are shared.
    [[nodiscard]] std::unique_ptr<used_object> make(
        stage&, client&, const std::vector<std::string>&) const override {
        return nullptr;
    }

    [[nodiscard]] std::shared_ptr<caller> make_caller(program& of,
                                                      std::size_t object,
                                                      std::string name) const override;
    [[nodiscard]] std::unique_ptr<judge> judge_of(stage& s) const override;

    [[nodiscard]] naming names() const override { return {.any_child = true}; }

    [[nodiscard]] bool one_at_a_time() const override { return false; }
};

}  // namespace latchkey::simulation

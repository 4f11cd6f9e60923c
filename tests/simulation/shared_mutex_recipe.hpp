#pragma once

#include "recipe.hpp"

namespace latchkey::simulation {

/// Readers, writers and upgraders, who change their modes while they hold.
class shared_mutex_recipe final : public lock_recipe {
public:
    [[nodiscard]] std::unique_ptr<used_object> make(
        stage& s, client& c, const std::vector<std::string>& paths) const override;
    [[nodiscard]] std::unique_ptr<judge> judge_of(stage& s) const override;

    [[nodiscard]] naming names() const override { return {"__WRIT__", "__READ__"}; }

    [[nodiscard]] bool one_at_a_time() const override { return false; }

    [[nodiscard]] wish draw_wish(const plan& p, model::random_source& random) const override;
    [[nodiscard]] std::optional<lock_mode> draw_change(model::random_source& random,
                                                       lock_mode from) const override;
};

}  // namespace latchkey::simulation

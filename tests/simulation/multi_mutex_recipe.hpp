#pragma once

#include "recipe.hpp"

namespace latchkey::simulation {

/// Several mutexes as one, beside others of other sets, and beside single ones.
class multi_mutex_recipe final : public lock_recipe {
public:
    [[nodiscard]] std::unique_ptr<used_object> make(
        stage& s, client& c, const std::vector<std::string>& paths) const override;
    [[nodiscard]] std::unique_ptr<judge> judge_of(stage& s) const override;

    [[nodiscard]] std::size_t queues_of(const plan::object& o) const override {
        return 1 + o.more_directories.size();
    }

    void adapt(plan& p, model::random_source& random) const override;
};

}  // namespace latchkey::simulation

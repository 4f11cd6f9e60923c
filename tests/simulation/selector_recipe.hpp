#pragma once

#include "recipe.hpp"

namespace latchkey::simulation {

/// Candidates for leadership, each with a selector of its own; beside mutexes on the same path,
/// candidates that know nothing of records, and observers.
class selector_recipe final : public lock_recipe {
public:
    [[nodiscard]] std::unique_ptr<used_object> make(
        stage& s, client& c, const std::vector<std::string>& paths) const override;
    [[nodiscard]] std::shared_ptr<caller> make_caller(program& of,
                                                      std::size_t object,
                                                      std::string name) const override;
    [[nodiscard]] std::unique_ptr<judge> judge_of(stage& s) const override;

    [[nodiscard]] bool one_at_a_time() const override { return false; }

    void adapt(plan& p, model::random_source& random) const override;
    void meanwhile(stage& s, const plan::object& o) const override;
    void restore(stage& s, const std::string& directory) const override;
};

}  // namespace latchkey::simulation

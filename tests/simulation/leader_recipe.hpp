#pragma once

#include "recipe.hpp"

namespace latchkey::simulation {

/// Candidates for leadership, each with a latch of its own, some of which know nothing of tokens
/// and records.
class leader_recipe final : public callers_recipe {
public:
    [[nodiscard]] std::shared_ptr<caller> make_caller(program& of,
                                                      std::size_t object,
                                                      std::string name) const override;
    [[nodiscard]] std::unique_ptr<judge> judge_of(stage& s) const override;

    [[nodiscard]] naming names() const override { return {.exclusive = "latch-", .twins = true}; }

    void adapt(plan& p, model::random_source& random) const override;
    void meanwhile(stage& s, const plan::object& o) const override;
    [[nodiscard]] std::string victim(stage& s, const participant& p) const override;
    void restore(stage& s, const std::string& directory) const override;
};

}  // namespace latchkey::simulation

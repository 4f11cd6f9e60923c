#pragma once

#include "recipe.hpp"

namespace latchkey::simulation {

/// Permits, several at once, of a limit that changes now and then.
class semaphore_recipe final : public lock_recipe {
public:
    [[nodiscard]] std::unique_ptr<used_object> make(
        stage& s, client& c, const std::vector<std::string>& paths) const override;
    [[nodiscard]] std::unique_ptr<judge> judge_of(stage& s) const override;

    [[nodiscard]] naming names() const override {
        return {.exclusive = "permit-", .permits = "permits", .permit = "permit-"};
    }

    [[nodiscard]] bool one_at_a_time() const override { return false; }

    void adapt(plan& p, model::random_source& random) const override;
    [[nodiscard]] wish draw_wish(const plan& p, model::random_source& random) const override;
    void meanwhile(stage& s, const plan::object& o) const override;
};

/// Curator's: everybody believes in one limit.
class curator_semaphore_recipe final : public lock_recipe {
public:
    [[nodiscard]] std::unique_ptr<used_object> make(
        stage& s, client& c, const std::vector<std::string>& paths) const override;
    [[nodiscard]] std::unique_ptr<judge> judge_of(stage& s) const override;

    [[nodiscard]] naming names() const override {
        return {.permits = "leases", .permit = "lease-", .weighted = false};
    }

    [[nodiscard]] bool one_at_a_time() const override { return false; }

    void adapt(plan& p, model::random_source& random) const override;
    [[nodiscard]] wish draw_wish(const plan& p, model::random_source& random) const override;
};

}  // namespace latchkey::simulation

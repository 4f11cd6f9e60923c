#pragma once

#include "barrier_judge.hpp"
#include "barrier_worker.hpp"
#include "double_barrier_worker.hpp"
#include "group_judge.hpp"
#include "group_worker.hpp"
#include "program.hpp"
#include "recipe.hpp"
#include "stage.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace latchkey::simulation {

/// Of callers that meet: nothing is numbered.
template <class Caller>
class meeting_recipe : public callers_recipe {
public:
    [[nodiscard]] std::shared_ptr<caller> make_caller(program& of,
                                                      std::size_t object,
                                                      std::string name) const override {
        return std::make_shared<Caller>(of, object, std::move(name));
    }

    [[nodiscard]] naming names() const override { return {.any_child = true}; }
};

/// Barriers that some set and remove, and others wait for.
class barrier_recipe final : public meeting_recipe<barrier_worker> {
public:
    [[nodiscard]] std::unique_ptr<judge> judge_of(stage& s) const override {
        return std::make_unique<barrier_judge>(s, history::layout::barrier);
    }
};

/// Participants of rounds, each with a double_barrier of its own.
class double_barrier_recipe final : public meeting_recipe<double_barrier_worker> {
public:
    [[nodiscard]] std::unique_ptr<judge> judge_of(stage& s) const override {
        return std::make_unique<barrier_judge>(s, history::layout::rounds);
    }

    void adapt(plan& p, model::random_source& random) const override;
};

/// Members of groups, and those who watch them.
class group_recipe final : public meeting_recipe<group_worker> {
public:
    [[nodiscard]] std::unique_ptr<judge> judge_of(stage& s) const override {
        return std::make_unique<group_judge>(s);
    }
};

}  // namespace latchkey::simulation

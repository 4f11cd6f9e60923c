#include "recipe.hpp"

#include <latchkey/mutex.hpp>

#include "barrier_recipe.hpp"
#include "double_barrier_recipe.hpp"
#include "group_recipe.hpp"
#include "judge.hpp"
#include "leader_recipe.hpp"
#include "multi_mutex_recipe.hpp"
#include "permit_recipe.hpp"
#include "selector_recipe.hpp"
#include "shared_mutex_recipe.hpp"
#include "worker.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace latchkey::simulation {
namespace {

class used_mutex final : public used_object {
public:
    used_mutex(client& c, const std::string& path) : mutex_(c, path) {}

    void acquire(const wish&, limit l, acquire_options how, handler done) override {
        if (l) {
            mutex_.async_acquire(*l, std::move(how), std::move(done));
        } else {
            mutex_.async_acquire(std::move(how), std::move(done));
        }
    }

private:
    mutex mutex_;
};

class mutex_recipe final : public lock_recipe {
public:
    std::unique_ptr<used_object> make(stage&,
                                      client& c,
                                      const std::vector<std::string>& paths) const override {
        return make_used_mutex(c, paths.front());
    }

    std::unique_ptr<judge> judge_of(stage& s) const override { return std::make_unique<judge>(s); }
};

constexpr std::array<std::pair<recipe_kind, const char*>, 10> recipes{{
    {recipe_kind::mutex, "mutex"},
    {recipe_kind::shared_mutex, "shared_mutex"},
    {recipe_kind::semaphore, "semaphore"},
    {recipe_kind::curator_semaphore, "curator_semaphore"},
    {recipe_kind::multi_mutex, "multi_mutex"},
    {recipe_kind::leader_latch, "leader_latch"},
    {recipe_kind::leader_selector, "leader_selector"},
    {recipe_kind::barrier, "barrier"},
    {recipe_kind::double_barrier, "double_barrier"},
    {recipe_kind::group, "group"},
}};

}  // namespace

std::unique_ptr<used_object> make_used_mutex(client& c, const std::string& path) {
    return std::make_unique<used_mutex>(c, path);
}

std::shared_ptr<caller> lock_recipe::make_caller(program& of,
                                                 std::size_t object,
                                                 std::string name) const {
    return std::make_shared<worker>(of, object, std::move(name));
}

void used_object::convert(hold h, lock_mode, limit, acquire_options, handler done) {
    done({}, std::move(h));
}

std::string to_string(const wish& w) {
    return (w.mode == lock_mode::exclusive ? "" : std::string(" ") + latchkey::to_string(w.mode)) +
           (w.permits == 1 ? "" : ' ' + std::to_string(w.permits) + " permits");
}

const char* to_string(recipe_kind k) noexcept {
    return recipes[static_cast<std::size_t>(k)].second;
}

std::optional<recipe_kind> recipe_kind_of(std::string_view name) noexcept {
    const auto* const found = std::find_if(
        recipes.begin(), recipes.end(), [&](const auto& entry) { return entry.second == name; });
    return found == recipes.end() ? std::nullopt : std::optional(found->first);
}

const lock_recipe& recipe_of(recipe_kind k) {
    static const mutex_recipe of_mutex;
    static const shared_mutex_recipe of_shared_mutex;
    static const semaphore_recipe of_semaphore;
    static const curator_semaphore_recipe of_curator_semaphore;
    static const multi_mutex_recipe of_multi_mutex;
    static const leader_recipe of_leader_latch;
    static const selector_recipe of_leader_selector;
    static const barrier_recipe of_barrier;
    static const double_barrier_recipe of_double_barrier;
    static const group_recipe of_group;
    switch (k) {
        case recipe_kind::mutex:
            return of_mutex;
        case recipe_kind::shared_mutex:
            return of_shared_mutex;
        case recipe_kind::semaphore:
            return of_semaphore;
        case recipe_kind::curator_semaphore:
            return of_curator_semaphore;
        case recipe_kind::multi_mutex:
            return of_multi_mutex;
        case recipe_kind::leader_latch:
            return of_leader_latch;
        case recipe_kind::leader_selector:
            return of_leader_selector;
        case recipe_kind::barrier:
            return of_barrier;
        case recipe_kind::double_barrier:
            return of_double_barrier;
        case recipe_kind::group:
            return of_group;
    }
    return of_mutex;
}

}  // namespace latchkey::simulation

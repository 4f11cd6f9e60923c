#include "multi_mutex_recipe.hpp"

#include <latchkey/multi_mutex.hpp>

#include "multi_mutex_judge.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace latchkey::simulation {

std::unique_ptr<used_object> multi_mutex_recipe::make(stage& s,
                                                      client& c,
                                                      const std::vector<std::string>& paths) const {
    if (paths.size() == 1) {
        return recipe_of(recipe_kind::mutex).make(s, c, paths);
    }
    return std::make_unique<used_lock<multi_mutex>>(c, paths, draw_times(s));
}

std::unique_ptr<judge> multi_mutex_recipe::judge_of(stage& s) const {
    return std::make_unique<multi_mutex_judge>(s);
}

/// Three directories: two thirds of the objects are about two of them or all.
void multi_mutex_recipe::adapt(plan& p, model::random_source& random) const {
    constexpr std::array endings{"", "-2", "-3"};
    const std::string base = p.clients.front().objects.front().directory;
    for (plan::client& c : p.clients) {
        for (plan::object& o : c.objects) {
            std::vector<std::string> all;
            for (const char* ending : endings) {
                all.push_back(base + ending);
            }
            const std::size_t left_out = random.below(all.size());
            const std::size_t drawn = random.below(6);
            if (drawn < 2) {
                all = {all[left_out]};
            } else if (drawn < 5) {
                all.erase(all.begin() + static_cast<std::ptrdiff_t>(left_out));
            }
            o.directory = all.front();
            o.more_directories.assign(all.begin() + 1, all.end());
        }
    }
}

}  // namespace latchkey::simulation

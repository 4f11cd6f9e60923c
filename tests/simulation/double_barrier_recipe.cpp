#include "double_barrier_recipe.hpp"

#include "double_barrier_judge.hpp"
#include "double_barrier_worker.hpp"
#include "program.hpp"
#include "stage.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::simulation {

std::shared_ptr<caller> double_barrier_recipe::make_caller(program& of,
                                                           std::size_t object,
                                                           std::string name) const {
    return std::make_shared<double_barrier_worker>(of, object, std::move(name));
}

std::unique_ptr<judge> double_barrier_recipe::judge_of(stage& s) const {
    return std::make_unique<double_barrier_judge>(s);
}

/// A round needs some of those who are there as a rule, or all.
void double_barrier_recipe::adapt(plan& p, model::random_source& random) const {
    std::size_t callers = 0;
    for (const plan::client& c : p.clients) {
        for (const plan::object& o : c.objects) {
            callers += static_cast<std::size_t>(o.callers);
        }
    }
    p.wanted = random.chance(0.1)
                   ? 1
                   : static_cast<std::uint32_t>(2 + random.below(std::min<std::size_t>(
                                                        std::max<std::size_t>(callers, 2) - 1, 4)));
    p.tries = std::min(p.tries, 0.15);
}

}  // namespace latchkey::simulation

#include "meeting_recipe.hpp"

#include <algorithm>

namespace latchkey::simulation {

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

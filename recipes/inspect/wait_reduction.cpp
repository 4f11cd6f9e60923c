#include "inspect/wait_reduction.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace latchkey::inline v0 {

std::vector<wait_reduction::vertices> wait_reduction::knots() const {
    edges waiting(vertices_.size());  // by what is waited for
    std::vector<vertices> open(1);
    for (vertex v = 0; v < vertices_.size(); ++v) {
        open.front().push_back(v);
        for (const vertex b : vertices_[v].blockers) {
            waiting[b].push_back(v);
        }
    }
    std::vector<vertices> found;
    while (!open.empty()) {
        const vertices set = std::move(open.back());
        open.pop_back();
        for (vertices& one : components_of(blocked_in(set, waiting), waiting)) {
            if (one.size() == set.size()) {
                found.push_back(std::move(one));
            } else if (one.size() > 1) {
                open.push_back(std::move(one));
            }
        }
    }
    return found;
}

/// What stays blocked if everything outside of the set goes on.
wait_reduction::vertices wait_reduction::blocked_in(const vertices& set,
                                                    const edges& waiting) const {
    std::vector<char> blocked(vertices_.size());
    std::vector<std::size_t> missing(vertices_.size());  // how many have to go on yet
    const auto goes_on = [&](vertex v) {
        const entry& e = vertices_[v];
        return missing[v] == 0 || (e.need == needs::any && missing[v] < e.blockers.size());
    };
    for (const vertex v : set) {
        blocked[v] = 1;
    }
    vertices going_on;
    for (const vertex v : set) {
        for (const vertex b : vertices_[v].blockers) {
            missing[v] += blocked[b] != 0 ? 1 : 0;
        }
        if (goes_on(v)) {
            going_on.push_back(v);
        }
    }
    for (const vertex v : going_on) {
        blocked[v] = 0;
    }
    while (!going_on.empty()) {
        const vertex gone = going_on.back();
        going_on.pop_back();
        for (const vertex v : waiting[gone]) {
            --missing[v];
            if (blocked[v] != 0 && goes_on(v)) {
                blocked[v] = 0;
                going_on.push_back(v);
            }
        }
    }
    vertices rest;
    std::copy_if(set.begin(), set.end(), std::back_inserter(rest), [&](vertex v) {
        return blocked[v] != 0;
    });
    return rest;
}

/// Without recursion: a queue may be a chain of a hundred thousand.
std::vector<wait_reduction::vertices> wait_reduction::components_of(const vertices& set,
                                                                    const edges& waiting) const {
    enum : char { outside, unseen, seen };

    std::vector<char> marks(vertices_.size(), outside);
    std::vector<std::pair<vertex, bool>> path;  // and whether the search leaves it
    for (const vertex v : set) {
        marks[v] = unseen;
        path.emplace_back(v, false);
    }
    vertices order;
    while (!path.empty()) {
        const auto [v, leaves] = path.back();
        path.pop_back();
        if (leaves) {
            order.push_back(v);
        } else if (marks[v] == unseen) {
            marks[v] = seen;
            path.emplace_back(v, true);
            for (const vertex b : vertices_[v].blockers) {
                path.emplace_back(b, false);
            }
        }
    }
    std::vector<vertices> found;
    for (auto last = order.rbegin(); last != order.rend(); ++last) {
        if (std::exchange(marks[*last], outside) == outside) {
            continue;
        }
        vertices one{*last};
        for (std::size_t i = 0; i < one.size(); ++i) {
            for (const vertex v : waiting[one[i]]) {
                if (std::exchange(marks[v], outside) != outside) {
                    one.push_back(v);
                }
            }
        }
        found.push_back(std::move(one));
    }
    return found;
}

wait_reduction::vertices wait_reduction::cycle_through(vertex first,
                                                       const std::vector<bool>& inside) const {
    constexpr vertex unreached = std::numeric_limits<vertex>::max();
    vertices from(vertices_.size(), unreached);
    vertices reached{first};
    for (std::size_t i = 0; i < reached.size(); ++i) {
        const vertex v = reached[i];
        for (const vertex b : vertices_[v].blockers) {
            if (b == first) {
                vertices cycle{v};
                while (cycle.back() != first) {
                    cycle.push_back(from[cycle.back()]);
                }
                std::reverse(cycle.begin(), cycle.end());
                return cycle;
            }
            if (inside[b] && from[b] == unreached) {
                from[b] = v;
                reached.push_back(b);
            }
        }
    }
    return {};
}

}  // namespace latchkey::inline v0

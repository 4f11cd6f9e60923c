#include "inspect/wait_reduction.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace latchkey::inline v0 {

std::vector<wait_reduction::vertices> wait_reduction::knots() const {
    std::vector<vertices> open(1, vertices(vertices_.size()));
    std::iota(open.front().begin(), open.front().end(), 0);
    std::vector<vertices> found;
    while (!open.empty()) {
        const vertices set = std::move(open.back());
        open.pop_back();
        for (vertices& one : components_of(blocked_in(set))) {
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
wait_reduction::vertices wait_reduction::blocked_in(const vertices& set) const {
    std::vector<char> blocked(vertices_.size());
    std::vector<std::size_t> missing(vertices_.size());  // how many have to go on yet
    for (const vertex v : set) {
        blocked[v] = 1;
        for (const vertex w : vertices_[v].waiting) {
            ++missing[w];
        }
    }
    vertices going_on;
    const auto reduce = [&](vertex v) {
        const entry& e = vertices_[v];
        const bool one_goes_on = e.need == needs::any && missing[v] < e.blockers.size();
        if (blocked[v] != 0 && (missing[v] == 0 || one_goes_on)) {
            blocked[v] = 0;
            going_on.push_back(v);
        }
    };
    std::for_each(set.begin(), set.end(), reduce);
    for (std::size_t i = 0; i < going_on.size(); ++i) {
        for (const vertex v : vertices_[going_on[i]].waiting) {
            --missing[v];
            reduce(v);
        }
    }
    vertices rest = set;
    std::erase_if(rest, [&](vertex v) { return blocked[v] == 0; });
    return rest;
}

/// Without recursion: a queue may be a chain of a hundred thousand.
std::vector<wait_reduction::vertices> wait_reduction::components_of(const vertices& set) const {
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
            for (const vertex v : vertices_[one[i]].waiting) {
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

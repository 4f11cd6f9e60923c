#include "inspect/wait_reduction.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace latchkey::inline v0 {
namespace {

using vertices = std::vector<wait_reduction::vertex>;

constexpr std::uint32_t outside = std::numeric_limits<std::uint32_t>::max();

}  // namespace

std::vector<vertices> wait_reduction::knots() const {
    std::vector<vertices> found;
    std::vector<vertices> open(1);
    for (vertex v = 0; v < vertices_.size(); ++v) {
        open.front().push_back(v);
    }
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
vertices wait_reduction::blocked_in(const vertices& set) const {
    // The number of each vertex within the set.
    std::vector<std::uint32_t> place(vertices_.size(), outside);
    for (std::uint32_t i = 0; i < set.size(); ++i) {
        place[set[i]] = i;
    }
    std::vector<std::uint32_t> missing(set.size());  // how many have to go on yet
    std::vector<vertices> waiting(set.size());
    std::vector<bool> free(set.size());
    vertices going_on;
    for (std::uint32_t i = 0; i < set.size(); ++i) {
        const entry& e = vertices_[set[i]];
        for (const vertex b : e.blockers) {
            if (place[b] != outside) {
                waiting[place[b]].push_back(i);
                ++missing[i];
            }
        }
        const bool one_goes_on = e.need == needs::any && missing[i] < e.blockers.size();
        if (missing[i] == 0 || one_goes_on) {
            free[i] = true;
            going_on.push_back(i);
        }
    }
    while (!going_on.empty()) {
        const std::uint32_t gone = going_on.back();
        going_on.pop_back();
        for (const std::uint32_t i : waiting[gone]) {
            --missing[i];
            if (!free[i] && (missing[i] == 0 || vertices_[set[i]].need == needs::any)) {
                free[i] = true;
                going_on.push_back(i);
            }
        }
    }
    vertices blocked;
    for (std::uint32_t i = 0; i < set.size(); ++i) {
        if (!free[i]) {
            blocked.push_back(set[i]);
        }
    }
    return blocked;
}

/// Tarjan's algorithm without recursion: a queue may be a chain of a hundred thousand.
std::vector<vertices> wait_reduction::components_of(const vertices& set) const {
    struct frame {
        vertex at;
        std::size_t next_blocker;
    };

    struct mark {
        bool inside = false;
        bool on_path = false;
        std::uint32_t number = outside;
        std::uint32_t lowest = outside;
    };

    std::vector<mark> marks(vertices_.size());
    for (const vertex v : set) {
        marks[v].inside = true;
    }
    std::vector<vertices> found;
    std::vector<frame> frames;
    vertices path;
    std::uint32_t count = 0;
    const auto enter = [&](vertex v) {
        marks[v].number = marks[v].lowest = count++;
        marks[v].on_path = true;
        path.push_back(v);
        frames.push_back({v, 0});
    };
    for (const vertex root : set) {
        if (marks[root].number != outside) {
            continue;
        }
        enter(root);
        while (!frames.empty()) {
            const vertex v = frames.back().at;
            const vertices& blockers = vertices_[v].blockers;
            if (frames.back().next_blocker < blockers.size()) {
                const vertex b = blockers[frames.back().next_blocker++];
                if (marks[b].inside && marks[b].number == outside) {
                    enter(b);
                } else if (marks[b].on_path) {
                    marks[v].lowest = std::min(marks[v].lowest, marks[b].number);
                }
                continue;
            }
            frames.pop_back();
            if (!frames.empty()) {
                mark& above = marks[frames.back().at];
                above.lowest = std::min(above.lowest, marks[v].lowest);
            }
            if (marks[v].lowest == marks[v].number) {
                const auto first = std::find(path.rbegin(), path.rend(), v).base() - 1;
                for (auto one = first; one != path.end(); ++one) {
                    marks[*one].on_path = false;
                }
                found.emplace_back(first, path.end());
                path.erase(first, path.end());
            }
        }
    }
    return found;
}

vertices wait_reduction::cycle_through(vertex first, const std::vector<bool>& inside) const {
    std::vector<vertex> from(vertices_.size(), outside);
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
            if (inside[b] && from[b] == outside) {
                from[b] = v;
                reached.push_back(b);
            }
        }
    }
    return {};
}

}  // namespace latchkey::inline v0

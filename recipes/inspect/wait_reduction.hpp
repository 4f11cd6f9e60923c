#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace latchkey::inline v0 {

/// A wait-for graph of the AND-OR model: a vertex goes on when all vertices that it waits for go
/// on, or when one of them does.
class wait_reduction {
public:
    using vertex = std::uint32_t;

    enum class needs : std::uint8_t { all, any };

    vertex add(needs n) {
        vertices_.push_back({n, {}, {}});
        return static_cast<vertex>(vertices_.size() - 1);
    }

    void wait(vertex waiting, vertex blocker) {
        vertices_[waiting].blockers.push_back(blocker);
        vertices_[blocker].waiting.push_back(waiting);
    }

    [[nodiscard]] const std::vector<vertex>& blockers(vertex v) const {
        return vertices_[v].blockers;
    }

    [[nodiscard]] std::size_t size() const noexcept { return vertices_.size(); }

    /// Sets of vertices that wait for each other for ever, whatever the others do: each is strongly
    /// connected, and stays blocked if all vertices outside of it go on.
    ///
    /// Graph reduction: what can go on is taken away until nothing more can, and what is left over
    /// is blocked for ever, the greatest fixed point of "blocked by what is blocked". (R. C. Holt,
    /// "Some Deadlock Properties of Computer Systems", ACM Computing Surveys 4(3), 1972; for the
    /// AND-OR model E. Knapp, "Deadlock Detection in Distributed Databases", ACM Computing Surveys
    /// 19(4), 1987. With needs::all alone the rest has a cycle, with needs::any alone a knot.) The
    /// rest contains those that only wait behind a deadlock. So it is split into strongly connected
    /// components (S. R. Kosaraju; M. Sharir, Computers & Mathematics with Applications 7(1),
    /// 1981), and each of them is reduced again by itself. Takes time in the number of edges, for
    /// each level of that.
    [[nodiscard]] std::vector<std::vector<vertex>> knots() const;

    /// A shortest cycle through `first` within the vertices for which `inside` is true. Each waits
    /// for the next. Empty if there is none.
    [[nodiscard]] std::vector<vertex> cycle_through(vertex first,
                                                    const std::vector<bool>& inside) const;

private:
    using vertices = std::vector<vertex>;

    struct entry {
        needs need;
        vertices blockers;
        vertices waiting;  ///< those of which it is a blocker
    };

    [[nodiscard]] vertices blocked_in(const vertices& set) const;
    [[nodiscard]] std::vector<vertices> components_of(const vertices& set) const;

    std::vector<entry> vertices_;
};

}  // namespace latchkey::inline v0

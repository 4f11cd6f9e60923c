#pragma once

#include <latchkey/lock_tree.hpp>
#include <latchkey/wait_graph.hpp>

#include "look/health_check.hpp"

#include <chrono>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace latchkey::cli {

/// All locks below the paths of `latchkey serve`, as one walk has seen them. Of the data of each
/// participant, and of the lists of names, only the beginning is kept.
struct reading {
    std::map<std::string, lock_tree_entry> locks;       ///< by path
    std::map<std::string, lock_tree_entry> unreadable;  ///< by path
    lock_tree_summary total;

    /// For the picture of who waits for whom. Queues that would make it too large are left out.
    std::vector<lock_wait> waits;
    std::size_t queues_left_out = 0;

    std::vector<finding> findings;  ///< as `latchkey doctor` reports them
    std::size_t deadlocks = 0;
    std::set<std::string> deadlocked;  ///< the paths of all deadlocks

    std::chrono::system_clock::time_point at{};     ///< when it began
    std::chrono::steady_clock::time_point began{};  ///< the same
    std::chrono::nanoseconds took{};

    [[nodiscard]] bool is_complete() const noexcept {
        return total.end == lock_tree_summary::ending::complete;
    }
};

}  // namespace latchkey::cli

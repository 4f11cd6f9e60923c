#pragma once

#include <latchkey/lock_tree.hpp>
#include <latchkey/wait_graph.hpp>

#include "look/queue_text.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace latchkey::cli {

/// What is wrong, where, why it matters, and what to do. Text that other programs have written is
/// escaped.
struct finding {
    enum class level : std::uint8_t {
        problem,  ///< a lock that is stuck, will be, or does not exclude
        advice,
    };

    std::string check;  ///< a stable name, for example "deadlock"
    level how_bad = level::problem;
    std::vector<std::string> paths = {};  ///< the first ones
    std::size_t count = 1;                ///< how many paths
    std::string what;
    std::string why;
    std::string remedy;
    std::vector<lock_wait> waits = {};  ///< of a deadlock
};

/// The rules of `latchkey doctor`, as functions of what a walk has seen.
class health_check {
public:
    explicit health_check(wall_clock::time_point now) : now_(now) {}

    /// What a walk has reported. It must have been asked for others and for access.
    void look_at(const lock_tree_entry& e);

    /// The locks for which participants wait: what find_deadlocks() needs.
    [[nodiscard]] const std::vector<queue_view>& contended() const noexcept { return contended_; }

    void add(finding f) { single_.push_back(std::move(f)); }

    void add_deadlocks(const std::vector<deadlock>& deadlocks);

    /// `asked`: the session timeout of the command; `least`: what the servers grant who asks for
    /// one millisecond, or zero if that is not known.
    void look_at_timeouts(std::chrono::milliseconds asked,
                          std::chrono::milliseconds granted,
                          std::chrono::milliseconds least);

    /// Problems first.
    [[nodiscard]] std::vector<finding> findings() const;

    [[nodiscard]] std::size_t locks() const noexcept { return locks_; }

    [[nodiscard]] std::size_t unreadable() const noexcept { return unreadable_; }

private:
    void look_at_participants(const queue_view& v);
    void look_at_names(const queue_view& v);
    void look_at_sequence(const queue_view& v);
    void look_at_access(const lock_tree_entry& e);
    void look_at_emptiness(const lock_tree_entry& e);
    /// One finding for all paths of one check.
    void count(finding f, const std::string& path);

    const wall_clock::time_point now_;
    std::size_t locks_ = 0;
    std::size_t unreadable_ = 0;
    std::vector<finding> single_;
    std::map<std::string, finding> counted_;  ///< by check
    std::vector<queue_view> contended_;
};

/// For people: several lines.
[[nodiscard]] std::string text_of(const finding& f);

[[nodiscard]] nlohmann::ordered_json json_of(const finding& f);

}  // namespace latchkey::cli

#pragma once

#include "loop/loop.hpp"

#include <cstdint>
#include <vector>

namespace latchkey::inline v0 {

class virtual_process;

/// The timers of a virtual loop, in the order in which they fall due. On the loop only.
class virtual_timers {
public:
    using task = loop::task;
    using timer_id = loop::timer_id;
    using time_point = loop::clock::time_point;

    struct fallen_due {
        timer_id id;
        std::uint32_t process;
    };

    /// `at` by the clock of the process, `due` by the loop's. Of two that fall due at one time, the
    /// one with the smaller `tie` comes first.
    timer_id start(std::uint32_t process, time_point at, time_point due, std::uint64_t tie, task t);

    /// What the timer is to run; empty if it was taken before.
    [[nodiscard]] task take(timer_id id) noexcept;

    [[nodiscard]] std::vector<task> take_all();

    /// When the next one falls due; null if there is none.
    [[nodiscard]] const time_point* next_due();

    /// The next one, after next_due(). What it is to run stays here until it is taken.
    [[nodiscard]] fallen_due pop();

    /// The clock of this process runs at another rate now.
    void set_again(const virtual_process& of);

private:
    struct slot {
        task run;
        time_point at;  ///< by the clock of its process
        std::uint32_t generation = 1;
        std::uint32_t process = 0;
    };

    struct entry {
        time_point due;
        std::uint64_t tie;
        timer_id id;
    };

    static bool later(const entry& a, const entry& b) noexcept {
        return a.due != b.due ? a.due > b.due : a.tie > b.tie;
    }

    [[nodiscard]] slot* find(timer_id id) noexcept;
    void remove_next();

    std::vector<slot> slots_;
    std::vector<std::uint32_t> free_slots_;
    std::vector<entry> heap_;  ///< entries of canceled timers stay until they come up
};

}  // namespace latchkey::inline v0

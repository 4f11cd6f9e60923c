#pragma once

#include <chrono>

namespace latchkey::test {

/// A limit on waiting that grows with the load of the machine: it counts the share of the
/// processors that each thread gets here, and not the time that passes. With ten threads for each
/// processor, 30 s are 300. The limit decides how long a failure takes, never how long a success
/// does.
class patience {
public:
    explicit patience(std::chrono::nanoseconds limit);

    /// Whether the limit is used up. Asked again and again, it counts what has passed in between.
    [[nodiscard]] bool ended();

private:
    std::chrono::nanoseconds left_;
    std::chrono::steady_clock::time_point counted_;
};

/// How many threads want each processor at this moment; at least 1.
[[nodiscard]] double threads_per_processor();

}  // namespace latchkey::test

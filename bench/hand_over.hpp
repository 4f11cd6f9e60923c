#pragma once

#include <latchkey/mutex.hpp>

#include <chrono>

namespace latchkey::bench {

/// Microseconds between the two.
[[nodiscard]] double since(
    std::chrono::steady_clock::time_point start,
    std::chrono::steady_clock::time_point end = std::chrono::steady_clock::now());

/// Time for a waiter to set its watches, in which nothing is measured.
void let_it_wait();

/// Both are the same lock, in two sessions: microseconds from a release to the grant of the waiter.
[[nodiscard]] double hand_over(latchkey::mutex& from, latchkey::mutex& to);

}  // namespace latchkey::bench

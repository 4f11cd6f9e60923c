#pragma once

#include <chrono>

namespace latchkey::test {

/// What a test says when its claim is about what happens in a given time, and the machine did not
/// do what the claim takes for granted in that time: `GTEST_SKIP() << too_slow << ...`, with what
/// was late. The test looks at the clock of what it measures. `scripts/test` counts these tests by
/// themselves: they have neither passed nor failed.
inline constexpr const char* too_slow = "the machine was too slow to tell: ";

/// A time in which something has to happen for a test to tell; it begins with this object.
class time_window {
public:
    explicit time_window(std::chrono::nanoseconds length)
        : end_(std::chrono::steady_clock::now() + length) {}

    [[nodiscard]] bool is_over() const { return std::chrono::steady_clock::now() > end_; }

private:
    std::chrono::steady_clock::time_point end_;
};

}  // namespace latchkey::test

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace latchkey::test {

/// Moves the wall clock of this process, or of others, as an operator or NTP does; the clocks that
/// count elapsed time go on.
///
/// A program has it by being linked with wall_clock.cpp. Others are started with LD_PRELOAD set to
/// the module latchkey_wall_clock, and follow the file that LATCHKEY_WALL_CLOCK names.
class wall_clock {
public:
    /// This process's.
    wall_clock();
    /// That of the processes which follow this file.
    explicit wall_clock(const std::string& file);
    wall_clock(const wall_clock&) = delete;
    wall_clock& operator=(const wall_clock&) = delete;
    /// Sets it right again.
    ~wall_clock();

    /// So far ahead of the right time; negative: behind.
    void set(std::chrono::seconds ahead);

private:
    std::atomic<std::int64_t>* shift_;
};

}  // namespace latchkey::test

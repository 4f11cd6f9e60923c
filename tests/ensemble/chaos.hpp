#pragma once

#include "history.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <string>

namespace latchkey::test {

struct chaos_options {
    std::uint64_t seed = 1;
    std::chrono::milliseconds duration{std::chrono::minutes(1)};
    std::chrono::milliseconds session_timeout{3000};
    std::chrono::milliseconds tick{200};
    int processes = 6;
    int threads = 2;  ///< of each process
    int locks = 3;
    /// How long things are broken in a row, before a time in which nothing is, and whoever was not
    /// woken would be noticed.
    std::chrono::milliseconds storm{std::chrono::seconds(25)};
    std::filesystem::path
        folder;  ///< for histories and the register's socket; emptied by the caller
};

struct chaos_outcome {
    history::verdict judged;
    std::string trouble;  ///< what kept it from being judged, or ended without being told to
    std::map<std::string, std::size_t> faults;
    std::chrono::milliseconds duration{};
    std::size_t workers = 0;
    std::size_t transactions = 0;

    [[nodiscard]] bool fine() const { return trouble.empty() && judged.violations.empty(); }
};

/// Starts servers and workers, breaks them at random, lets everything become quiet, and judges what
/// happened. `progress` is told a line now and then.
[[nodiscard]] chaos_outcome run_chaos(const chaos_options& options, std::ostream& progress);

/// For people.
void print(std::ostream& out, const chaos_options& options, const chaos_outcome& outcome);

}  // namespace latchkey::test

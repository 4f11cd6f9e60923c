#pragma once

#include "chaos_recipe.hpp"
#include "history.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {

struct chaos_options {
    std::uint64_t seed = 1;
    std::chrono::milliseconds duration{std::chrono::minutes(1)};
    std::chrono::milliseconds session_timeout{3000};
    std::chrono::milliseconds tick{200};
    std::vector<recipe> recipes{recipe::mutex};  ///< side by side
    int processes = 6;                           ///< for each of them
    int threads = 2;                             ///< of each process
    int locks = 3;                               ///< for each recipe
    /// How long things are broken in a row, before a time in which nothing is, and whoever was not
    /// woken would be noticed.
    std::chrono::milliseconds storm{std::chrono::seconds(25)};
    bool faults = true;   ///< else nothing is broken
    bool brisk = false;   ///< holds are short, and follow each other closely
    bool direct = false;  ///< most hand on directly, by datagrams that are lost, late or doubled
    /// How long somebody may get nowhere, undisturbed, before it is a lost wake-up: the session
    /// timeout twice, or more on a machine that has much else to do.
    std::chrono::milliseconds patience{};
    std::filesystem::path folder =
        {};  ///< for histories and the register's socket; emptied by the caller
};

struct chaos_outcome {
    std::vector<std::pair<recipe, history::verdict>> judged;
    std::string trouble;  ///< what kept it from being judged, or ended without being told to
    std::map<std::string, std::size_t> faults;
    std::chrono::milliseconds duration{};
    std::size_t workers = 0;
    std::size_t transactions = 0;
    std::uint64_t direct_grants = 0;  ///< of the workers that were there at the end

    [[nodiscard]] bool fine() const;
};

/// Starts servers and workers, breaks them at random, lets everything become quiet, and judges what
/// happened. `progress` is told a line now and then.
[[nodiscard]] chaos_outcome run_chaos(const chaos_options& options, std::ostream& progress);

/// For people: all of it, or a line for each recipe.
void print(std::ostream& out, const chaos_options& options, const chaos_outcome& outcome);
void print_table(std::ostream& out, const std::vector<chaos_outcome>& outcomes);

}  // namespace latchkey::test

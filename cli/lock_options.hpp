#pragma once

#include <latchkey/lock_mode.hpp>

#include "run_options.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace latchkey::cli {

/// What `latchkey lock` is asked to do, checked as far as it can be without a server. Its path may
/// be that of --file or --key.
struct lock_options : run_options {
    /// Which recipe the lock is.
    enum class kind : std::uint8_t {
        mutex,       ///< Curator's InterProcessMutex
        read_write,  ///< -s, -x, and files
        semaphore,   ///< -N, --limit
        all,         ///< --all: several mutexes as one
    };

    kind what = kind::mutex;
    lock_mode mode = lock_mode::exclusive;
    std::uint32_t permits = 1;           ///< -N
    std::optional<std::uint32_t> limit;  ///< --limit; without it the semaphore is there already

    bool try_only = false;                         ///< -n, and -w 0
    std::optional<std::chrono::nanoseconds> wait;  ///< -w: covers connecting and waiting
    int conflict_status = 1;
};

/// Reads what follows "latchkey lock" on the command line. Throws usage_error.
[[nodiscard]] std::variant<lock_options, help_text> parse_lock_options(
    const std::vector<std::string>& arguments, const environment_lookup& environment);

}  // namespace latchkey::cli

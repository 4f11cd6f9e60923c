#pragma once

#include <latchkey/lock_mode.hpp>

#include "options/run_options.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace latchkey::cli {

/// The options of `latchkey lock`, checked as far as possible without a server. The path may come
/// from --file or --key.
struct lock_options : run_options {
    enum class kind : std::uint8_t {
        mutex,       ///< Curator's InterProcessMutex
        read_write,  ///< -s, -x, --file and --key
        semaphore,   ///< -N, --limit
        all,         ///< --all: several mutexes as one
    };

    kind what = kind::mutex;
    lock_mode mode = lock_mode::exclusive;
    std::uint32_t permits = 1;           ///< -N
    std::optional<std::uint32_t> limit;  ///< --limit; without it the semaphore must exist

    bool try_only = false;                         ///< -n, and -w 0
    std::optional<std::chrono::nanoseconds> wait;  ///< -w: covers connecting and waiting
    int conflict_status = 1;                       ///< -E
    int skipped_status = 0;                        ///< --once-per; -E

    std::optional<std::chrono::nanoseconds> lock_delay;

    std::string id;  ///< --id and --data: in the record of the participant's znode
    std::string data;
};

/// Reads the words after "latchkey lock". Throws usage_error and help_request.
[[nodiscard]] lock_options parse_lock_options(const std::vector<std::string>& arguments,
                                              const environment_lookup& environment);

}  // namespace latchkey::cli

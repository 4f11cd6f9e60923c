#pragma once

#include <latchkey/lock_mode.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace latchkey::cli {

/// What `latchkey lock` is asked to do, checked as far as it can be without a server.
struct lock_options {
    /// Which recipe the lock is.
    enum class kind : std::uint8_t {
        mutex,       ///< Curator's InterProcessMutex
        read_write,  ///< -s, -x, and files
        semaphore,   ///< -N, --limit
        all,         ///< --all: several mutexes as one
    };

    std::string servers;
    kind what = kind::mutex;
    std::string path;  ///< of the lock; that of --file or --key, too; for --all, to be shown
    std::vector<std::string> paths;  ///< of --all
    lock_mode mode = lock_mode::exclusive;
    std::uint32_t permits = 1;           ///< -N
    std::optional<std::uint32_t> limit;  ///< --limit; without it the semaphore is there already
    std::vector<std::string> command;    ///< empty: hold until signalled

    bool try_only = false;                         ///< -n, and -w 0
    std::optional<std::chrono::nanoseconds> wait;  ///< -w: covers connecting and waiting
    int conflict_status = 1;
    std::chrono::milliseconds session_timeout{10'000};
    std::optional<std::chrono::nanoseconds> grace;
    std::optional<std::string> auth_file;
    bool verbose = false;
    bool json = false;
};

/// Asked for instead of a lock: print it on stdout.
struct help_text {
    std::string text;
};

/// A variable of the environment; nullopt if it is not set.
using environment_lookup = std::function<std::optional<std::string>(const char* name)>;

/// Reads what follows "latchkey lock" on the command line. Options end at the first operand, so the
/// command's own options are never taken for latchkey's. Throws usage_error.
[[nodiscard]] std::variant<lock_options, help_text> parse_lock_options(
    const std::vector<std::string>& arguments, const environment_lookup& environment);

/// How long before the deadline the command is told to end, for a session timeout T as negotiated:
/// what was asked for (throws usage_error if that is longer than T/4), else T/20, at most 2 s. Not
/// more, because a client that hears nothing from its server moves to another one only after 5/12
/// of T, a hold that follows a silence is believed for T/2 at first, and what is saved by that move
/// must not have cost the command its life.
[[nodiscard]] std::chrono::nanoseconds grace_within(const lock_options& options,
                                                    std::chrono::milliseconds session_timeout);

}  // namespace latchkey::cli

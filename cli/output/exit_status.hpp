#pragma once

#include <latchkey/error.hpp>

#include <stdexcept>
#include <string>
#include <system_error>

namespace latchkey::cli {

/// The exit statuses of latchkey. Where sysexits.h or flock(1) defines a status, latchkey uses it.
namespace exit_status {

inline constexpr int success = 0;
inline constexpr int not_acquired = 1;  ///< the default of -E
inline constexpr int usage = 64;
inline constexpr int failed = 65;  ///< no sequence numbers left, a quota is exceeded, ...
inline constexpr int unreachable = 69;
inline constexpr int system_failed = 71;
inline constexpr int output_failed = 74;
inline constexpr int lock_lost = 76;
inline constexpr int not_authorized = 77;
inline constexpr int held_too_long = 124;  ///< --max-hold is over; timeout(1) has the same
inline constexpr int cannot_execute = 126;
inline constexpr int not_found = 127;

/// 128+n, as shells report a death by signal n.
[[nodiscard]] constexpr int of_signal(int signal) noexcept {
    return 128 + signal;
}

/// For a command that ended with this wait status, as waitpid() returns it.
[[nodiscard]] int of_command(int wait_status) noexcept;

/// For a command that could not be started, by its errno.
[[nodiscard]] int of_failed_start(int error_number) noexcept;

/// For an error of the library or of the system.
[[nodiscard]] int of_error(const std::error_code& ec) noexcept;

}  // namespace exit_status

/// Whether the same may succeed later without anybody's doing: the servers cannot be reached, or
/// have too much to do.
[[nodiscard]] bool is_transient(const error& e) noexcept;

/// Ends latchkey: the message is printed as it is, and `status` is the exit status.
struct command_failure : std::runtime_error {
    command_failure(int exit_with, const std::string& message)
        : std::runtime_error(message), status(exit_with) {}

    int status;
};

/// The user gave something that cannot be used. The message names the value and the remedy.
struct usage_error : command_failure {
    explicit usage_error(const std::string& message)
        : command_failure(exit_status::usage, message) {}
};

}  // namespace latchkey::cli

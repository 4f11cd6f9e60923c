#pragma once

#include <system_error>

/// What `latchkey lock` exits with. Where sysexits.h or flock(1) have a number for it, it is
/// theirs.
namespace latchkey::cli::exit_status {

inline constexpr int success = 0;
inline constexpr int not_acquired = 1;  ///< the default of -E
inline constexpr int usage = 64;
inline constexpr int failed =
    65;  ///< the lock cannot be taken: no sequence numbers left, quota, ...
inline constexpr int unreachable = 69;
inline constexpr int system_failed = 71;
inline constexpr int output_failed = 74;
inline constexpr int lock_lost = 76;
inline constexpr int not_authorized = 77;
inline constexpr int cannot_execute = 126;
inline constexpr int not_found = 127;

/// 128+n, as shells report a death by signal n.
[[nodiscard]] constexpr int of_signal(int signal) noexcept {
    return 128 + signal;
}

/// From what waitpid() told of a command that has ended.
[[nodiscard]] int of_command(int wait_status) noexcept;

/// From the errno of a command that could not be started.
[[nodiscard]] int of_failed_start(int error_number) noexcept;

/// From what the library reports.
[[nodiscard]] int of_error(const std::error_code& ec) noexcept;

}  // namespace latchkey::cli::exit_status

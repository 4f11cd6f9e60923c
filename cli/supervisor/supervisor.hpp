#pragma once

#include <latchkey/boottime_clock.hpp>

#include "output/signals.hpp"
#include "supervisor/command_process.hpp"
#include "supervisor/supervisor_process.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <sys/socket.h>
#include <sys/types.h>

namespace latchkey::cli {

/// The small process between latchkey and the command it runs.
///
/// - Guarantee: everything that the command started is dead before the last deadline that the
///   supervisor received. If latchkey is stopped, it sends no new deadline. If latchkey is killed
///   or crashes, its end of the socket closes, and the supervisor kills everything at once. Then
///   the guardian may end the session, so that the lock is free. Processes that left their process
///   group or session are killed, too.
/// - Limit: if latchkey and the supervisor are killed at once, only the command itself dies. The
///   supervisor cannot kill what other services run for the command (systemd-run, at, a
///   container engine), nor processes that this user must not signal.
/// - Threads: made before the process has any; then used by one thread at a time.
class supervisor {
public:
    /// Forks; the command is not run yet. The supervisor's process first calls `forget`: what is in
    /// this process's memory is in its own. Throws std::system_error.
    supervisor(
        const std::vector<std::string>& command, const signals& inherited, void (*forget)() = [] {
        });
    supervisor(const supervisor&) = delete;
    supervisor& operator=(const supervisor&) = delete;

    ~supervisor();

    /// Runs the command until `deadline` at most; again only after its end was reported. Reports
    /// say what happens to it.
    void run(const std::vector<environment_setting>& settings,
             boottime_clock::time_point deadline,
             std::chrono::nanoseconds grace);

    /// Replaces the deadline, because the hold was renewed. Never blocks.
    void move_deadline(boottime_clock::time_point deadline);

    /// The hold is lost: TERM and KILL at once.
    void end_now();

    /// Kills a command that still runs, with all that it started, and then ends the supervisor's
    /// process. Blocks until both have ended. It must be the last call.
    void end() noexcept;

    /// Sends `signal` to the command's process group.
    void forward(int signal);

    /// Readable when there is a report.
    [[nodiscard]] int fd() const noexcept { return socket_; }

    /// The next report, if there is one. After the supervisor's death always supervisor_died.
    [[nodiscard]] std::optional<supervisor_report> read();

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }

private:
    void send(const supervisor_order& o, const std::string& settings = {}) const;

    pid_t pid_ = 0;
    int socket_ = -1;
};

}  // namespace latchkey::cli

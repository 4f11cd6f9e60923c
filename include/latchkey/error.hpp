#pragma once

#include <latchkey/export.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace latchkey::inline v0 {

/// What went wrong. Contention until the end of the time and cancellation are results, not errors.
enum class errc {
    /// A connect string, path, duration, data or option cannot be used; the message names it and
    /// the remedy.
    invalid_argument = 1,
    /// No server answered in time, so it is not known whether there is contention. The message says
    /// why the last attempt to connect failed. If a server has refused something instead, or has
    /// sent malformed answers, the call ends with that when its time is over: errc::protocol, or
    /// errc::not_acquired if the same call may succeed later.
    unreachable,
    /// The session ended (expired, or replaced by the server) before the request was answered.
    session_lost,
    /// The hold is no longer valid: nothing was sent, or the servers refused because the znode is
    /// gone.
    hold_lost,
    /// The connection failed before the answer, so the request may or may not have been applied.
    indeterminate,
    /// A znode's access control list does not let this client do it.
    not_authorized,
    /// The servers refused the credentials, or serve only clients that have authenticated. This
    /// client cannot be used any more.
    authentication_failed,
    /// A znode that the request needs does not exist.
    no_such_znode,
    /// The znode exists already.
    znode_exists,
    /// The znode has another version than the request requires.
    version_mismatch,
    /// The znode has children and cannot be deleted.
    not_empty,
    /// A parent on the path is ephemeral and cannot have children.
    ephemeral_parent,
    /// A quota set on the path is used up.
    quota_exceeded,
    /// The directory's 32-bit sequence is at or near its end. Use another path, or let ZooKeeper
    /// remove the empty directory.
    sequence_exhausted,
    /// The directory contains a znode that looks like a participant and cannot be ordered; the
    /// message names it.
    malformed_participant,
    /// The calling thread already holds this lock, or made a blocking call where it would never
    /// return.
    would_deadlock,
    /// The client was closed.
    closed,
    /// The object was made before a fork and belongs to the parent process.
    forked,
    /// This build or the servers cannot do it, or not as they are configured.
    unsupported,
    /// The session of a participant ended before it left the barrier. Its work may be incomplete.
    participant_lost,
    /// The servers answered with a code that this library does not expect; the message has the
    /// number.
    protocol,
    /// A `guard` did not acquire its lock: the time was over, or the call was canceled. Of another
    /// call: its time was over, and servers have answered, but not with what it needs, as a server
    /// that is behind does. The same call may succeed later.
    not_acquired,
    /// The znode at the path has other data than a semaphore has.
    not_a_semaphore,
};

/// Conditions that say what to do after an error. Compare with `==`: `if (ec ==
/// error_kind::indeterminate)`.
enum class error_kind {
    /// The same call may succeed later.
    retryable = 1,
    /// The request may have been applied, or may still be.
    indeterminate,
    /// The session is gone, and with it every ephemeral znode of this client.
    session_lost,
    /// The program uses the library wrongly: errc::invalid_argument, would_deadlock, forked.
    caller_bug,
};

[[nodiscard]] LATCHKEY_EXPORT const std::error_category& error_category() noexcept;
[[nodiscard]] LATCHKEY_EXPORT const std::error_category& error_kind_category() noexcept;

[[nodiscard]] inline std::error_code make_error_code(errc e) noexcept {
    return {static_cast<int>(e), error_category()};
}

[[nodiscard]] inline std::error_condition make_error_condition(error_kind c) noexcept {
    return {static_cast<int>(c), error_kind_category()};
}

/// Stands for "no error_code": the default of each parameter `ec`. A call that gets it throws
/// latchkey::error; a call that gets another std::error_code sets that one and does not throw.
[[nodiscard]] LATCHKEY_EXPORT std::error_code& throws() noexcept;

/// The exception that this library throws. `what()` names the value at fault and, if there is one,
/// the remedy.
class LATCHKEY_EXPORT error : public std::system_error {
public:
    /// What is known about the cause, for programs.
    struct details {
        std::string path = {};                      ///< of the znode; below the client's chroot
        std::optional<std::size_t> operation = {};  ///< of a transaction: the first is 0
        int server_code = 0;                        ///< ZooKeeper's number, for example -101
    };

    error(std::error_code code, const std::string& what) : std::system_error(code, what) {}

    error(std::error_code code, const std::string& what, details d)
        : std::system_error(code, what), details_(std::make_shared<const details>(std::move(d))) {}

    /// The path of the znode at fault; empty if there is none.
    [[nodiscard]] std::string path() const { return details_ ? details_->path : std::string(); }

    /// The operation of a transaction that the servers refused; nothing for other errors.
    [[nodiscard]] std::optional<std::size_t> operation_index() const noexcept {
        return details_ ? details_->operation : std::nullopt;
    }

    /// ZooKeeper's number for the answer of the servers; 0 if the error does not come from them.
    [[nodiscard]] int server_code() const noexcept { return details_ ? details_->server_code : 0; }

private:
    std::shared_ptr<const details> details_;  // so that a copy cannot throw
};

}  // namespace latchkey::inline v0

template <>
struct std::is_error_code_enum<latchkey::errc> : std::true_type {};

template <>
struct std::is_error_condition_enum<latchkey::error_kind> : std::true_type {};

#pragma once

#include <stdexcept>
#include <string>
#include <system_error>

namespace latchkey {

/// What went wrong, in the words of this library. Contention, timeout and cancellation are results,
/// not errors.
enum class errc {
    /// A connect string, path, duration, payload or option is not usable; the message names it and
    /// the remedy.
    invalid_argument = 1,
    /// No server answered within the time given; the message says what the last attempt met.
    unreachable,
    /// The session ended (expired, or replaced by the server) before the request was answered.
    session_lost,
    /// The hold is no longer valid: nothing was sent, or the servers refused because the znode is
    /// gone.
    hold_lost,
    /// A request may or may not have been applied; the connection failed before its answer came.
    indeterminate,
    /// The access control list of a znode refuses this client.
    not_authorized,
    /// The servers refused the credentials; this client cannot be used any more.
    authentication_failed,
    /// A znode that the request needs is not there.
    no_such_znode,
    /// A znode is there already.
    znode_exists,
    /// A znode's version is not the one that was asked for.
    version_mismatch,
    /// The znode has children and cannot be deleted.
    not_empty,
    /// A parent on the path is ephemeral and cannot have children.
    ephemeral_parent,
    /// A quota set on the path is used up.
    quota_exceeded,
    /// The directory's 32-bit sequence is at or near its end: use another path, or let the empty
    /// directory be removed.
    sequence_exhausted,
    /// The directory holds a znode that looks like a participant and cannot be ordered; the message
    /// names it.
    malformed_participant,
    /// The calling thread already holds this lock, or a blocking call was made where it would never
    /// end.
    would_deadlock,
    /// The client was closed.
    closed,
    /// The object was made before a fork and belongs to the parent process.
    forked,
    /// This build, or the servers, cannot do what was asked.
    unsupported,
    /// A participant's session ended before it had left the barrier: its work may be undone.
    participant_lost,
    /// The servers answered with a code that this library has no word for; the message has the
    /// number.
    protocol,
};

/// Questions about an error that decide what to do next; compare with `==`: `if (ec ==
/// cause::indeterminate)`.
enum class cause {
    /// Trying the same again later may succeed.
    retryable = 1,
    /// The request may have been applied, or may yet be.
    indeterminate,
    /// The session, and every ephemeral znode with it, is gone.
    session_lost,
};

[[nodiscard]] const std::error_category& error_category() noexcept;
[[nodiscard]] const std::error_category& cause_category() noexcept;

[[nodiscard]] inline std::error_code make_error_code(errc e) noexcept {
    return {static_cast<int>(e), error_category()};
}

[[nodiscard]] inline std::error_condition make_error_condition(cause c) noexcept {
    return {static_cast<int>(c), cause_category()};
}

/// The one exception type of this library. `what()` names the value at fault and, where there is
/// one, the remedy.
class error : public std::system_error {
public:
    error(std::error_code code, const std::string& what) : std::system_error(code, what) {}
};

}  // namespace latchkey

template <>
struct std::is_error_code_enum<latchkey::errc> : std::true_type {};

template <>
struct std::is_error_condition_enum<latchkey::cause> : std::true_type {};

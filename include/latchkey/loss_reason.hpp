#pragma once

#include <latchkey/export.hpp>

#include <cstdint>

namespace latchkey::inline v0 {

/// Why a hold is no longer valid.
enum class loss_reason : std::uint8_t {
    none,              ///< not lost; the hold may have been released
    deadline_passed,   ///< no answered quorum write came in time, so the session may have ended
    session_expired,   ///< the servers ended the session
    session_replaced,  ///< a server handed out another session when the client reconnected
    znode_deleted,     ///< another client deleted the participant's znode
    client_closed,     ///< the client was closed while the lock was held
    forked,            ///< this is the child of a fork; the hold belongs to the parent process
    suspended,         ///< a leader with suspended_policy::step_down lost its connection
    resigned,          ///< the leader gave up the leadership
    max_hold_passed,   ///< lock_options::max_hold is over
};

/// A sentence for people, such as "the servers ended the session".
[[nodiscard]] LATCHKEY_EXPORT const char* to_string(loss_reason why) noexcept;

/// The name of the enumerator, such as "session_expired", for metrics and logs.
[[nodiscard]] LATCHKEY_EXPORT const char* id_of(loss_reason why) noexcept;

}  // namespace latchkey::inline v0

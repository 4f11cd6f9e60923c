#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace latchkey::simulation {

/// What can go wrong in a run.
enum class fault : std::uint8_t {
    // Requests.
    request_lost,
    answer_lost,
    refused_unknown,   ///< not done, and answered with a code that leaves it open
    answered_unknown,  ///< done, and answered with such a code
    throttled,
    // Connections.
    connection_cut,
    moved,  ///< cut, and the next connection is to a server that is behind
    unreachable,
    black_hole,
    answers_late,
    requests_late,
    cut_off,  ///< with the follower that it is connected to, right after the answer of a write
    // Processes and sessions.
    paused,
    crashed,
    session_expired,
    session_replaced,
    // The operator.
    znode_deleted,
    directory_deleted,
    data_changed,
    foreign_child,
    containers_reaped,
    access_taken,
    sequence_ended,
    // Servers.
    server_stopped,
    server_paused,
    follower_isolated,
    leader_isolated,
    server_late,
    quorum_lost,
    // The program itself, in whatever state it is.
    cancelled,
    mutex_destroyed,
    client_closed,
    hold_released,
};

constexpr std::size_t fault_kinds = static_cast<std::size_t>(fault::hold_released) + 1;

template <typename T>
using by_fault = std::array<T, fault_kinds>;

[[nodiscard]] constexpr fault fault_at(std::size_t index) noexcept {
    return static_cast<fault>(index);
}

[[nodiscard]] constexpr std::size_t index_of(fault f) noexcept {
    return static_cast<std::size_t>(f);
}

/// "request lost".
[[nodiscard]] const char* to_string(fault f) noexcept;

}  // namespace latchkey::simulation

#pragma once

#include <latchkey/connection_state.hpp>

#include <chrono>
#include <cstdint>

namespace latchkey::inline v0 {

/// What one client has done since it was made, and how it is doing: client::stats(). The numbers
/// are read one after the other, so a call that ends meanwhile may count in one of them and not yet
/// in another. Holds are those of locks and permits and the terms of leaders.
struct client_stats {
    connection_state state = connection_state::connecting;

    // ---- since the start ----
    std::uint64_t acquired = 0;           ///< holds that were granted
    std::uint64_t acquired_directly = 0;  ///< ... of which by a datagram: client_options::direct
    /// Calls that ended without a hold: refused, not in time, canceled.
    std::uint64_t not_acquired = 0;
    std::uint64_t released = 0;        ///< holds that the program gave back
    std::uint64_t lost = 0;            ///< holds that were lost, and terms that ended
    std::uint64_t sessions = 0;        ///< sessions that were opened
    std::uint64_t connections = 0;     ///< connections that were made, the sessions' first ones too
    std::uint64_t requests = 0;        ///< requests that were sent
    std::uint64_t transactions = 0;    ///< transact() and transact_once() calls that were committed
    std::uint64_t events_dropped = 0;  ///< events that the observer was too slow for

    // ---- now ----
    std::uint64_t waiting = 0;          ///< calls, and candidates, that wait for a hold
    std::uint64_t held = 0;             ///< holds that are neither lost nor released
    std::uint64_t deletes_pending = 0;  ///< znodes that the client is still deleting

    /// How long the holds stay valid if no server answers any more. It becomes small before holds
    /// are lost, so it is what to watch while `held` is not 0. A client that holds nothing proves
    /// nothing: then it may be zero.
    std::chrono::nanoseconds validity_left{};
    /// How long there has been no connection; zero while there is one.
    std::chrono::nanoseconds disconnected_for{};
    /// From the last answered quorum write to its answer: what a heartbeat takes.
    std::chrono::nanoseconds write_round_trip{};
    /// As client::callback_running_for().
    std::chrono::nanoseconds callback_running_for{};
};

}  // namespace latchkey::inline v0

#pragma once

#include <latchkey/connection_state.hpp>
#include <latchkey/export.hpp>
#include <latchkey/fencing_token.hpp>
#include <latchkey/lock_mode.hpp>
#include <latchkey/loss_reason.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>

namespace latchkey::inline v0 {

/// What an event tells of.
enum class event_kind : std::uint8_t {
    state,         ///< the client's connection has changed: `state`
    queued,        ///< a participant has its place, and `ahead` others are ahead of it
    acquired,      ///< a hold was granted, or a term began; `took` since the call began to wait
    not_acquired,  ///< a call ended without a hold after `took`; no `error`: not in time, canceled
    converted,     ///< a hold has another `mode`
    released,      ///< the program gave a hold back, after it had it for `took`
    lost,          ///< a hold was lost, or a term ended, for the reason `why`, after `took`
    transaction,   ///< transact() or transact_once() ended after `took`; no `error`: committed
    request,       ///< a request of this client was answered, or its connection lost, after `took`
};

/// "state", "queued", "not_acquired", ...
[[nodiscard]] LATCHKEY_EXPORT const char* to_string(event_kind k) noexcept;

/// One thing that happened in a client: see client_options::observer. For metrics, traces and
/// audits. What does not concern an event's kind has its default value. The views are valid during
/// the call only.
struct event {
    event_kind what = event_kind::state;
    std::chrono::system_clock::time_point at = {};  ///< when it happened, by the wall clock
    std::string_view client = {};                   ///< client_options::name
    std::int64_t session = 0;                       ///< 0 if there is none

    /// The same in all events from the beginning of an acquire, or of a candidacy, to the release
    /// or the loss of what was granted. Unique in the client; 0 in other events.
    std::uint64_t span = 0;
    std::string_view path = {};  ///< of the lock or the election; of several paths the first
    std::string_view node = {};  ///< the path of the own znode; of several znodes the first
    bool leads = false;          ///< it is about a leader's term, or a candidate

    std::chrono::nanoseconds took = {};
    std::size_t ahead = 0;
    lock_mode mode = lock_mode::exclusive;
    fencing_token token = {};
    loss_reason why = loss_reason::none;
    bool direct = false;  ///< the hold was granted by a datagram: client_options::direct
    connection_state state = connection_state::connecting;
    std::string_view operation = {};  ///< of a request: "create", "delete", "get", "multi", ...
    std::error_code error = {};
};

}  // namespace latchkey::inline v0

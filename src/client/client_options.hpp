#pragma once

#include <latchkey/client.hpp>

#include "session/failure.hpp"
#include "validity/validity.hpp"

#include <chrono>

namespace latchkey::inline v0 {

/// What the options say about the servers.
[[nodiscard]] inline validity_assumptions assumptions_of(const client_options& o) noexcept {
    return {o.tick, o.max_clock_drift};
}

/// Throws errc::invalid_argument for options that cannot work; the message names the value.
void check_options(const client_options& o);

/// That of the options, or what a client writes without one: for itself alone once it has an
/// identity.
[[nodiscard]] acl access_list_of(const client_options& o);

/// Why nothing could be believed in a session with the timeout that the servers granted.
[[nodiscard]] failure granted_too_little(const client_options& o,
                                         std::chrono::milliseconds granted);

}  // namespace latchkey::inline v0

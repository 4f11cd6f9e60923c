#pragma once

#include <latchkey/export.hpp>

#include <cstdint>

namespace latchkey::inline v0 {

/// With which of the servers a client keeps its connection: client_options::prefer.
enum class server_preference : std::uint8_t {
    any,     ///< a random one: the clients spread over the servers
    leader,  ///< the one that leads the servers: a write needs fewer messages between servers
    near     ///< the first to answer; of those about as near, the first in the connect string
};

}  // namespace latchkey::inline v0

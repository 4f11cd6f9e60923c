#pragma once

#include <latchkey/client.hpp>

#include "driver.hpp"

#include <atomic>
#include <cstddef>
#include <string>

namespace latchkey::bench {

/// From the command line.
extern std::string servers;
extern std::string guardian;  ///< its path; empty: neither that nor direct messages
extern bool at_the_leader;

/// Every datagram is lost.
extern std::atomic<bool> drops;

/// The client with that number. Each has a session of its own.
[[nodiscard]] client& client_of(std::size_t number);

/// From the kill of the holder to the grant of the next one, which waits.
[[nodiscard]] figures crash(const order& o);

/// What that holder does.
[[noreturn]] void hold_until_killed(const std::string& path);

}  // namespace latchkey::bench

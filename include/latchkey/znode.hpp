#pragma once

#include <latchkey/export.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace latchkey::inline v0 {

/// What the servers know about a znode besides its data: ZooKeeper's Stat. A zxid is the number of
/// a transaction of the ensemble; zxids increase.
struct znode_stat {
    std::int64_t czxid = 0;          ///< of the transaction that created the znode
    std::int64_t mzxid = 0;          ///< of the last change of its data
    std::int64_t pzxid = 0;          ///< of the last change of its list of children
    std::int32_t version = 0;        ///< how often its data was changed
    std::int32_t child_version = 0;  ///< how often its list of children was changed
    std::int64_t owner = 0;          ///< the session of an ephemeral znode; 0 for any other
    std::int32_t data_size = 0;      ///< in bytes
    std::int32_t child_count = 0;
    /// By the servers' clocks, in whole milliseconds. Do not compare them with this machine's clock
    /// to decide who holds a lock.
    std::chrono::system_clock::time_point created{};
    std::chrono::system_clock::time_point modified{};  ///< the last change of its data

    bool operator==(const znode_stat&) const = default;
};

/// A znode as a server knew it at one moment.
struct znode {
    std::string data;
    znode_stat stat;

    bool operator==(const znode&) const = default;
};

/// What a read sees.
enum class read_from : std::uint8_t {
    /// What the server that the client is connected to knows. It may be behind the other servers,
    /// by seconds if it is cut off from them, but never behind what this client has seen or written
    /// before. Cost: 1 request, 1 round trip.
    any_server,
    /// Everything that was committed anywhere before the call. A write that changes nothing goes
    /// ahead of the read on the same connection, so the servers answer the read behind it. A `sync`
    /// would not do, because a leader that the other servers have left answers it, too. Cost: 2
    /// requests that travel together, 1 round trip and the quorum's time for the write.
    quorum,
};

}  // namespace latchkey::inline v0

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace latchkey {

/// The program that made a participant's znode, by its own account. Untrusted: any client may write
/// anything there.
struct identity {
    std::string host;
    std::string user;
    std::string program;
    std::int64_t pid = 0;
    std::chrono::system_clock::time_point since{};  ///< when it joined the queue, by its own clock
    std::string mode;                               ///< what it asked for, for example "exclusive"
};

/// One participant: a znode in the queue of a recipe.
struct participant {
    std::string name;             ///< the znode's name in the directory
    std::uint32_t sequence = 0;   ///< its place in the queue: the lowest comes first
    std::int64_t session_id = 0;  ///< the session that owns the znode
    std::int64_t czxid = 0;       ///< the zxid of its creation
    std::uint32_t permits = 0;    ///< the permits of a semaphore that it holds; 0 while it waits
    std::string data;             ///< the znode's data: its first 16,384 bytes
    std::optional<identity> identified;  ///< what the data says, if it is Latchkey's record
};

/// The place of a participant in its queue, when it has just joined.
struct queue_position {
    std::string path;          ///< the path of the participant's znode
    std::size_t position = 0;  ///< how many participants are ahead
    std::string predecessor;   ///< the name of the znode that it waits for; empty at the head
};

}  // namespace latchkey

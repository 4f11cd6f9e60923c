#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace latchkey {

/// Who made a participant's znode, as it says of itself. Untrusted: any client may write anything
/// there.
struct identity {
    std::string host;
    std::string user;
    std::string program;
    std::int64_t pid = 0;
    std::chrono::system_clock::time_point since{};  ///< when it joined the queue, by its own clock
    std::string mode;                               ///< what it asked for: "exclusive", ...
};

/// One participant in a recipe's queue.
struct participant {
    std::string name;                    ///< the znode's name in the directory
    std::uint32_t sequence = 0;          ///< its place: lower comes first
    std::int64_t session_id = 0;         ///< the session that it lives with
    std::int64_t czxid = 0;              ///< the zxid of its creation
    std::uint32_t permits = 0;           ///< that it has of a semaphore; none while it waits
    std::string data;                    ///< the znode's data: its first 16,384 bytes
    std::optional<identity> identified;  ///< the data read as Latchkey's record, if it is one
};

/// A place in the queue, as told when it is reserved.
struct place {
    std::string path;          ///< the own znode
    std::size_t position = 0;  ///< how many participants are ahead
    std::string predecessor;   ///< the name of the one waited for; empty at the head
};

}  // namespace latchkey

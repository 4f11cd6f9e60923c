#pragma once

#include <latchkey/export.hpp>
#include <latchkey/fencing_token.hpp>
#include <latchkey/lock_mode.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace latchkey::inline v0 {

/// The program that made a participant's znode, by its own account. Untrusted: any client may write
/// anything there.
struct identity {
    std::string host;
    std::string user;
    std::string program;
    std::int64_t pid = 0;
    std::chrono::system_clock::time_point since{};  ///< when it joined the queue, by its own clock
    std::string mode;                               ///< what it asked for, for example "exclusive"
    std::string id;  ///< what its user calls it: `latchkey lock --id`; empty otherwise
};

/// The library that made a participant's znode, as far as its name and its data show it. Untrusted.
enum class participant_library : std::uint8_t {
    unknown,   ///< the name and the data fit several libraries, or none
    latchkey,  ///< the data is Latchkey's record, or only Latchkey gives such names
    curator,   ///< a name of Curator's, and data that is not Latchkey's record. A participant of
               ///< Latchkey's with data of its own (lock_options::data) looks the same.
    kazoo,
    go,  ///< go-zookeeper
};

/// "unknown", "latchkey", "curator", "kazoo", "go".
[[nodiscard]] LATCHKEY_EXPORT const char* to_string(participant_library l) noexcept;

/// One participant: a znode in the queue of a recipe. Names and data are untrusted: any client may
/// write anything there, also characters that a terminal acts on.
struct participant {
    std::string name;             ///< the znode's name in the directory
    std::uint32_t sequence = 0;   ///< its place in the queue: the lowest comes first
    std::int64_t session_id = 0;  ///< the session that owns the znode
    std::int64_t czxid = 0;       ///< the zxid of its creation
    std::uint32_t permits = 0;    ///< the permits of a semaphore that it holds; 0 while it waits
    std::string data;             ///< the znode's data: its first 16,384 bytes
    std::optional<identity> identified;  ///< what the data says, if it is Latchkey's record

    std::string path = {};  ///< the znode's path
    /// Whether the servers delete the znode when its session ends. If not, it stays until a client
    /// deletes it.
    bool ephemeral = false;
    /// When the znode was created, by the clock of the servers.
    std::chrono::system_clock::time_point created{};

    // inspect() alone sets what follows; see queue_view.

    std::size_t position = 0;            ///< its index in queue_view::participants: 0 is the first
    bool holding = false;                ///< whether it holds, leads, has entered or is present
    std::optional<lock_mode> mode = {};  ///< of a mutex or shared_mutex
    std::string id = {};                 ///< of a candidate, of a group's member (its name), or
                                         ///< that of `latchkey lock --id`
    std::optional<latchkey::fencing_token> token = {};  ///< of a holder, if the servers show it
    bool session_alive = false;  ///< whether a session owns the znode that the servers have not
                                 ///< ended
    /// For how long the znode has existed at least, by the clock of the servers.
    std::chrono::milliseconds existed_for{};
    participant_library library = participant_library::unknown;
    bool readable = true;  ///< false: the access control list hides the data

    /// Whether the access control list hides all but the name: from ZooKeeper 3.8.4 and 3.9.2 on it
    /// does so without READ. Then session_id, czxid, ephemeral, created and session_alive are not
    /// known, and have no value.
    [[nodiscard]] bool hidden() const noexcept { return !readable && czxid == 0; }
};

/// The place of a participant in its queue, when it has just joined.
struct queue_position {
    std::string path;          ///< the path of the participant's znode
    std::size_t position = 0;  ///< how many participants are ahead
    std::string predecessor;   ///< the name of the znode that it waits for; empty at the head
};

}  // namespace latchkey::inline v0

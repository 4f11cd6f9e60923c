#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// What all znodes are called. A participant of a queue: the prefix of its create, what its recipe
// puts there, and the ten digits that the servers add: "_c_<guid>-lock-0000000007".

namespace latchkey::inline v0 {

/// Sequences are 32-bit and end; what the servers do there depends on the version (ZOOKEEPER-2944,
/// ZOOKEEPER-3249). From here on nothing is granted any more: a million joins before the end.
inline constexpr std::uint32_t last_sequence = 0x7FFF'FFFFU - (1U << 20U);

/// How many digits the servers add to a sequential name.
inline constexpr std::size_t sequence_digits = 10;

/// How the names of a recipe's participants end: in a marker and ten digits.
struct queue_markers {
    std::string_view exclusive;    ///< "lock-"; of those that hold alone
    std::string_view shared = {};  ///< of those that hold together; empty: there are none
    std::string_view others = {};  ///< of another library's that hold alone; empty: none count
    /// A leader can place a successor right behind itself. Then two participants have one number,
    /// and a deletion does not show a later participant which one is the first.
    bool transferable = false;
    bool delays = false;  ///< its holders may have a lock_delay, and leave a record of it

    bool operator==(const queue_markers&) const = default;
};

/// What a child's name says of its place in a queue.
struct queue_place {
    enum class standing : std::uint8_t {
        participant,  ///< ends in a marker and ten digits
        foreign,      ///< not a participant's znode; it does not count
        exhausted,    ///< a marker and a number at or past the end of the sequence, or a negative
                      ///< one
        malformed,    ///< a marker and something that cannot be ordered against ten digits
    };

    standing what = standing::foreign;
    std::uint32_t sequence = 0;
    bool shared = false;
    bool delays = false;  ///< leaves a record while it holds
};

/// Reads a child's name. Any prefix is taken: Curator's and ours is `_c_<uuid>-`, go-zookeeper's
/// has no dashes in it.
[[nodiscard]] queue_place place_of(std::string_view name, const queue_markers& markers) noexcept;

/// What a name begins with whose znode must be found again if the answer to its create is lost:
/// Curator's protection. A GUID and a hyphen follow.
inline constexpr std::string_view protection = "_c_";

/// "_c_<guid>-"
[[nodiscard]] inline std::string protected_prefix(const std::string& guid) {
    return std::string(protection) + guid + '-';
}

/// Of a directory that is no queue.
inline constexpr queue_markers no_participants{.exclusive = {}};

// ---- locks ----

/// Curator's InterProcessMutex; go-zookeeper's Lock orders by the same. kazoo's Lock can be set up
/// to wait for these, and these wait for it.
inline constexpr queue_markers lock_names{
    .exclusive = "lock-", .shared = {}, .others = "__lock__", .delays = true};

/// Curator's InterProcessReadWriteLock.
inline constexpr queue_markers read_write_names{
    .exclusive = "__WRIT__", .shared = "__READ__", .delays = true};

// ---- lock delays ----

/// Stands before the marker in the names of participants that have a lock_delay: who waits behind
/// one of them looks for its record.
inline constexpr std::string_view delay_mark = "delay-";

inline constexpr std::chrono::milliseconds longest_delay = std::chrono::hours(1);

/// While such a participant holds, a child of the directory says so, and is deleted together with
/// the participant's znode. If it is there alone, the holder died.
struct delay_record {
    std::chrono::milliseconds delay{0};
    std::uint32_t sequence = 0;  ///< of the holder
};

/// "delay-<guid>-8", seven digits of milliseconds, and ten digits. The GUID and the ten digits are
/// those of the holder's name, or path, which this takes: a request for one record never finds
/// another one. All libraries that lock by numbers order such a name behind every participant, or
/// leave it out.
[[nodiscard]] std::string name_of_delay(std::chrono::milliseconds delay, std::string_view holder);

/// Nothing if the name is not that of a record.
[[nodiscard]] std::optional<delay_record> delay_record_of(std::string_view name) noexcept;

// ---- semaphores ----

/// What stands between the GUID and the number of permits in a permit's name.
inline constexpr std::string_view permit_marker = "permit-";

/// The queue of a semaphore; a permit's own znode ends in the number of permits instead.
inline constexpr queue_markers semaphore_names{.exclusive = permit_marker};

/// The queue of Curator's InterProcessSemaphoreV2: it guards the leases with an InterProcessMutex.
inline constexpr queue_markers curator_semaphore_names{.exclusive = "lock-"};

// ---- leadership ----

/// Curator's LeaderLatch. A LeaderSelector's are those of a lock.
inline constexpr queue_markers latch_names{
    .exclusive = "latch-", .shared = {}, .others = {}, .transferable = true};

/// Candidates of both of Curator's recipes. They do not see each other, and no election has both:
/// the names show which of the two a path is for.
inline constexpr queue_markers candidate_names{
    .exclusive = "latch-", .shared = {}, .others = "lock-"};

// ---- the front of a queue ----

/// The data of a directory whose queue the participant `name` was once the first of.
[[nodiscard]] std::string front_mark(std::string_view name);

/// The name in a mark. Empty if the data is not one.
[[nodiscard]] std::string_view named_by_front_mark(std::string_view data) noexcept;

}  // namespace latchkey::inline v0

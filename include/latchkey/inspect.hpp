#pragma once

#include <latchkey/client.hpp>
#include <latchkey/error.hpp>
#include <latchkey/export.hpp>
#include <latchkey/leader_observer.hpp>
#include <latchkey/participant.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace latchkey::inline v0 {

/// What a path is used for, as its znodes show it. docs/design/inspect.md has the rule for each.
enum class lock_kind : std::uint8_t {
    none,   ///< the path does not exist
    mutex,  ///< also recursive_mutex, each path of a multi_mutex, and a leader_selector that
            ///< has published nothing
    shared_mutex,
    semaphore,
    curator_semaphore,
    leader_election,
    barrier,  ///< one that Latchkey has set. Curator's cannot be told from another znode.
    double_barrier,
    group,
    unknown,  ///< the path exists and fits no rule. A lock that is not in use has no participants
              ///< and no data, so its path is unknown or does not exist.
};

/// "none", "mutex", "shared_mutex", "semaphore", "curator_semaphore", "leader_election", "barrier",
/// "double_barrier", "group", "unknown".
[[nodiscard]] LATCHKEY_EXPORT const char* to_string(lock_kind k) noexcept;

/// Who holds a path and who waits for it, as one server saw it.
///
/// Names, data and leader are untrusted: any client may have written them. Escape them before you
/// print them. At most 16,384 bytes are kept of the data of each participant.
struct queue_view {
    std::string path;
    lock_kind kind = lock_kind::none;

    /// In the order of the queue. What the fields of `participant` mean here:
    ///
    /// - position: its index in this list. For a mutex, shared_mutex or election, so many
    ///   participants are ahead. A semaphore lists its holders first, in the order of their grants.
    ///   A double_barrier lists its participants in the order of their arrival, a group its members
    ///   by name.
    /// - holding: decided by the rules of the recipe. Of a shared_mutex, several readers may hold.
    ///   The first candidate of an election leads, or is about to. A lease of a curator_semaphore
    ///   counts as held, also while its owner, one of Curator's, still waits for others. A
    ///   participant of a double_barrier holds while it is in the round. A member of a group is
    ///   present, and the one participant of a barrier is the barrier itself: both hold always.
    /// - mode: `upgrade` if the record of an exclusive participant says so. A revocation request
    ///   replaces the record, and then an upgrader is shown as exclusive.
    /// - permits: of a holder of a semaphore; 0 while it waits.
    /// - token: of the holder of a mutex, the exclusive or upgrade holder of a shared_mutex, and a
    ///   leader that has published it. The servers do not show fencing_token::turn; it is 0 here.
    ///   Tokens of shared holds and permits only identify the holder, and are not shown.
    /// - session_alive: the servers delete an ephemeral znode when they end its session. So an
    ///   ephemeral znode that exists has a session that they have not ended, and this is the same
    ///   as `ephemeral`. It may lag: the server that answered may be behind, and the servers end
    ///   the session of a process that died only after its session timeout. No client can know
    ///   more.
    /// - existed_for: from `created` to the newest time in anything that was read. It is a lower
    ///   bound, because reads do not show the servers' time: 0 if nothing newer was read.
    std::vector<participant> participants;

    /// Children that take no part. Those of a semaphore's directories begin with the directory:
    /// "permits/x".
    std::vector<std::string> foreign;

    /// Children that look like participants and cannot be ordered: the number has not ten digits,
    /// or is at the end of the sequence. While one is there, nothing more is granted
    /// (errc::malformed_participant, errc::sequence_exhausted). Present holders keep their holds.
    std::vector<std::string> malformed;

    /// A holder that ended without a release, and how long the first in the queue waits for that.
    struct delay {
        std::string path;  ///< of the record, whose data is that of the holder
        std::chrono::milliseconds length{0};
    };

    /// The delays (lock_options::lock_delay) that nobody has waited for yet.
    std::vector<delay> delays;

    /// How many more sequence numbers are usable in the directory of the queue. Each acquire takes
    /// one. Nothing for kinds without a queue.
    std::optional<std::uint32_t> sequence_left;

    std::uint32_t capacity = 0;  ///< the number of permits of a semaphore; 0: not stored
    std::uint64_t taken = 0;     ///< how many permits of a semaphore are taken

    /// The leader of an election: the first candidate, and what it has published.
    std::optional<leader_info> leader;
};

/// Looks at a path: what it is, who holds it, and who waits. Changes nothing and sets no watch.
///
///     for (const auto& p : latchkey::inspect(zk, "/jobs/nightly").participants) {
///         print(p.position, p.holding, p.identified ? p.identified->host : p.name);
///     }
///
/// - A participant that leaves between the list and the read of its znode is left out. If all
///   holders left in that moment, or a waiter of a semaphore, which may hold now, inspect() looks
///   again, up to twice.
/// - Cost: 2 requests, then one for each participant: 2 round trips. At most 64 requests are in
///   flight, so each further 64 participants take one more. Where it applies, one more round trip
///   each: 3 requests for a semaphore; 1 for a round of a double_barrier; 1 for each child of a
///   path that is a group or unknown; 1 for each participant whose data the client may not read.
/// - Blocks: until the servers have answered. Each round trip may take up to the session timeout.
/// - Without READ on the znode of a participant, its data is not shown. From ZooKeeper 3.8.4 and
///   3.9.2 on nothing but its name is (participant::hidden()). A path is then taken for a group, or
///   for a double_barrier of Curator's, only if all its children may be read.
/// - Errors: errc::invalid_argument for the path; not_authorized if the client may not read the
///   path or a directory below it; unreachable, closed, forked, would_deadlock.
/// - Threads: any thread.
[[nodiscard]] LATCHKEY_EXPORT queue_view inspect(const client& c,
                                                 const std::string& path,
                                                 std::error_code& ec = throws());

/// Takes a hold, or a place in a queue, away from its owner: deletes the znode of one participant.
/// Returns true if this call deleted it, false if it had left.
///
/// **Breaking a hold is not mutual exclusion.** This is the exception of S2 and S16 in
/// docs/guarantees.md. The servers grant the lock to the next participant at once. The holder
/// notices through its watch (loss_reason::znode_deleted), and until that event arrives its valid()
/// is true and it continues to work. A holder that is stopped or cut off notices later still. So
/// two holders may work at the same time, unless all effects are fenced: by tokens that the
/// resource compares, or by guarded transactions. A holder of Curator's or kazoo's may not notice
/// at all. Prefer revoke(). Break a hold if its owner is known to be gone, and if its znode is not
/// ephemeral: no end of a session removes such a znode.
///
/// - Which: `whom` is from inspect(), or from participants() of a recipe: a participant of a lock,
///   a semaphore or an election. A hold of several permits of a curator_semaphore has several
///   znodes, and so has one of a multi_mutex. Losing one of them, the owner has lost the hold; the
///   others stay until it releases them or its session ends. For members of groups and double
///   barriers, barriers, and malformed children it fails with errc::invalid_argument.
/// - Only that znode: it is deleted only if it still has the czxid of `whom`. The servers compare
///   data versions, not czxids, so the client reads the czxid and then deletes with the version it
///   has read. Remaining race: within that round trip, another client deletes the znode and creates
///   one of exactly the same name, which is then deleted. Sequence numbers and GUIDs do not repeat,
///   so only a client that chooses that name can do this. Where the servers hide the czxid
///   (participant::hidden()), a name with a GUID counts as the same znode.
/// - A lost answer: the call looks again. If the znode has gone by then, it returns true: a delete
///   was sent, and nobody can know which one was first.
/// - `reason`: for people. It is written to client_options::log of this client, with the path, its
///   session and its czxid. The first 512 bytes are used. The holder does not receive it.
/// - Cost: 2 requests, 2 round trips.
/// - Errors: errc::invalid_argument; not_authorized (needs DELETE on the directory; from ZooKeeper
///   3.8.4 and 3.9.2 on also READ on the znode, if its name has no GUID), not_empty, unreachable
///   (no answer within the session timeout: it may have been deleted, or may still be), closed,
///   forked, would_deadlock.
/// - Threads: any thread.
LATCHKEY_EXPORT bool break_hold(const client& c,
                                const participant& whom,
                                std::string_view reason,
                                std::error_code& ec = throws());

/// Asks a participant to give up its place, as mutex::revoke() does. The request replaces the data
/// of its znode; the participant decides. Returns false if it has left.
///
/// - Which: as break_hold(), but no candidate of a leader_latch, whose data must not change:
///   leader_latch::request_resignation() asks a leader. kazoo and go-zookeeper ignore the request.
/// - Cost: 1 request, 1 round trip. Errors: as break_hold(); it needs WRITE on the znode.
LATCHKEY_EXPORT bool revoke(const client& c,
                            const participant& whom,
                            std::error_code& ec = throws());

}  // namespace latchkey::inline v0

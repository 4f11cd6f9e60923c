#pragma once

#include <latchkey/acl.hpp>
#include <latchkey/client.hpp>
#include <latchkey/error.hpp>
#include <latchkey/export.hpp>
#include <latchkey/inspect.hpp>
#include <latchkey/znode.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>

namespace latchkey::inline v0 {

/// What a walk found at one path. Names, data and lists are untrusted: see queue_view.
struct lock_tree_entry {
    /// As inspect() shows it. If `ec` is set, only the path is known. Without
    /// lock_tree_options::waiters, participants of a queue that wait are left out.
    queue_view view;
    std::size_t waiting = 0;  ///< how many participants wait, with those that are left out
    znode_stat stat;          ///< of the path

    /// The access control list of the path, if lock_tree_options::access asks for it. Nothing if
    /// the client may not read it.
    std::optional<acl> access = {};

    /// Why the path could not be read: errc::not_authorized; errc::invalid_argument for a name that
    /// this library does not use (check_path()). Paths below it are not known.
    std::error_code ec = {};
};

/// How far a walk goes.
struct lock_tree_options {
    /// How many levels below the path are visited; 0: only the path itself. A tree with more than
    /// 64 levels is taken for one without an end: it ends the whole walk.
    std::size_t max_depth = 64;

    /// No further path is visited when so many znodes were read. Participants count, too.
    std::size_t max_znodes = 1'000'000;

    /// Read the participants of queues that wait. find_deadlocks() needs them. Without it, a walk
    /// over long queues is many times as fast.
    bool waiters = true;

    bool others = false;  ///< report the paths as well that are no locks: lock_kind::unknown
    bool access = false;  ///< read the access control list of each reported path: 1 request each
    std::stop_token stop = {};  ///< a stop request ends the walk between two reads
};

/// What a walk has done.
struct lock_tree_summary {
    enum class ending : std::uint8_t {
        complete,
        too_deep,  ///< there are paths below max_depth
        too_many,  ///< there are paths that were not visited, because of max_znodes
        stopped,
    };

    std::size_t locks = 0;       ///< paths that are locks
    std::size_t unreadable = 0;  ///< paths with an `ec`
    std::size_t znodes = 0;      ///< read
    ending end = ending::complete;
};

/// "complete", "too_deep", "too_many", "stopped".
[[nodiscard]] LATCHKEY_EXPORT const char* to_string(lock_tree_summary::ending e) noexcept;

/// Visits a path and everything below it, and reports each path that is a lock of any kind, with
/// its holders and waiters. Changes nothing and sets no watch.
///
///     walk_locks(zk, "/", [](const latchkey::lock_tree_entry& e) {
///         print(e.view.path, e.view.participants.size());
///     });
///
/// - Order: by name, a path before those below it. A path of which only the children show the kind
///   (a group, a double barrier of Curator's, an unknown path) is reported behind those below it.
/// - What is a lock: as inspect() decides, with two exceptions. An ephemeral znode is none. A znode
///   that never had children is no semaphore, even if its data is a number.
/// - Not visited: participants, the directories inside of a semaphore (queue, permits, locks,
///   leases), the mailboxes of an election (`<path>-peers`), and /zookeeper.
/// - One time for all: existed_for is a better lower bound than that of inspect(), because the walk
///   has seen more of the servers' times. But the paths are read one after the other. Two entries
///   together may show a state that never was; see find_deadlocks().
/// - A path whose holders all left while it was read is reported without a holder. The walk does
///   not look again.
/// - `visit` runs on the calling thread, and may block. At most 512 answers wait for it meanwhile.
///   What it throws ends the walk.
/// - Cost: 2 requests for each path, 1 for each participant that is read, and what inspect() lists
/// for
///   semaphores, rounds, and znodes that the client may not read. Each znode is read at most once,
///   and its children are listed at most once, unless the connection breaks. At most 64 requests
///   are in flight.
/// - Memory: for what is under way, and the names of the paths still to be visited.
/// - Blocks: until the servers have answered. Errors: errc::invalid_argument for the path;
///   unreachable if the servers do not answer within the session timeout, closed, forked,
///   would_deadlock. What was reported until then is true. A path that the client may not read is
///   an entry and no error, even if it is the first.
/// - Threads: any thread.
LATCHKEY_EXPORT lock_tree_summary
walk_locks(const client& c,
           const std::string& path,
           const std::function<void(const lock_tree_entry&)>& visit,
           const lock_tree_options& options = {},
           std::error_code& ec = throws());

}  // namespace latchkey::inline v0

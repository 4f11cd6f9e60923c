#pragma once

#include <latchkey/export.hpp>
#include <latchkey/inspect.hpp>
#include <latchkey/participant.hpp>

#include <cstdint>
#include <string>
#include <vector>

// Which sessions wait for which, and which wait for each other for ever. Functions of what
// inspect() and walk_locks() have seen; they send no requests.
//
// The servers show sessions, not threads. A session that holds one lock and waits for another is
// taken for one thread that does both. If two threads of one client do it, what looks like a
// deadlock may be none. Waits of a session for a lock that it holds itself are left out, because in
// most programs another thread will release it; see find_self_waits().

namespace latchkey::inline v0 {

/// One participant that waits, and one that it waits for, in the queue of one lock.
struct lock_wait {
    std::string path;  ///< of the lock
    lock_kind kind = lock_kind::none;
    participant waiter;
    participant blocker;  ///< a holder that conflicts with `waiter`, or a waiter ahead of it
};

/// All direct waits, for a picture: of each participant that waits for a mutex, shared_mutex,
/// semaphore or curator_semaphore, for each session that holds what it waits for, and for the
/// nearest waiter ahead that it has to let pass. Waits of a session for itself are left out.
[[nodiscard]] LATCHKEY_EXPORT std::vector<lock_wait> find_waits(
    const std::vector<queue_view>& views);

/// Sessions that wait for each other, none of which can go on.
struct deadlock {
    /// Each one's blocker belongs to the session of the next one's waiter, the last one's to that
    /// of the first. Begins with the lowest path.
    std::vector<lock_wait> cycle;

    /// Further waits without which the deadlock would not be complete or that close further cycles
    /// through the same sessions: breaking `cycle` alone may not be enough.
    std::vector<lock_wait> others;

    /// Whether both are made of the same znodes. A deadlock lasts, so one that two looks show, the
    /// second one begun after the first was complete, is one.
    [[nodiscard]] LATCHKEY_EXPORT bool is_same(const deadlock& other) const;
};

/// The deadlocks among these views, the shortest first.
///
/// - A waiter of a mutex or shared_mutex needs all that conflict with it to go: the holders, and
///   the earlier waiters, by mode. A waiter of a semaphore needs the earlier waiters to go and one
///   holder to release: it is in a deadlock only if every holder is. So a semaphore with a free
///   permit, or with a holder that waits for nothing, blocks no one for ever.
/// - Sessions that only wait behind a deadlock are not part of it.
/// - Candidates of elections, barriers and groups are left out. A candidate waits as long as
///   another one leads, and works meanwhile. (A leader_selector that publishes nothing looks like
///   a mutex.)
/// - A holder without a session (not ephemeral) is no part of a deadlock. It is found by itself.
/// - The views were made one after the other. Together they may show a cycle that never was.
///   Look again at its paths, and believe what both looks show: deadlock::is_same().
[[nodiscard]] LATCHKEY_EXPORT std::vector<deadlock> find_deadlocks(
    const std::vector<queue_view>& views);

/// Waits of a session for a mutex that it holds itself. That is a deadlock if one thread does both.
/// Left out: other kinds, of which one client may well hold several, and participants of Curator's,
/// whose mutex is reentrant.
[[nodiscard]] LATCHKEY_EXPORT std::vector<lock_wait> find_self_waits(
    const std::vector<queue_view>& views);

}  // namespace latchkey::inline v0

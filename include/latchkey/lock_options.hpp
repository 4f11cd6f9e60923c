#pragma once

#include <latchkey/acl.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace latchkey::inline v0 {

/// The znodes of a recipe's participants, and how long holds may last.
struct lock_options {
    /// The data of the znode, at most 512 bytes. Replaces Latchkey's own record, which names the
    /// host, the process, the user and the program (see `identity`). With client_options::direct,
    /// an object of JSON with room for them gets the members `direct` and `key`; with other data
    /// the participant takes no part in direct hand-offs.
    std::optional<std::string> data = {};

    /// The access control list. Replaces client_options::access, and is checked in the same way.
    std::optional<acl> access = {};

    /// The longest time that a hold may last, from its grant; zero: no limit. Then the hold is lost
    /// (loss_reason::max_hold_passed): valid_until() is never later, lost() is requested, and the
    /// client deletes the znode at once, so the next participant is granted even if this program
    /// hangs. A converted hold keeps its time.
    std::chrono::nanoseconds max_hold{0};

    /// The shortest time that the lock stays taken, from the grant: a hold that is released sooner
    /// is empty at once, and the client keeps its znode until the time is over. For jobs that
    /// several machines start at the same time by their own clocks: the job is not run again by a
    /// machine that is late by less. It does not outlive the session: when the client is closed,
    /// or its process ends, the lock is free.
    std::chrono::nanoseconds min_hold{0};

    /// How long the lock stays taken after a holder that ended without releasing it, at most an
    /// hour, for effects of the dead holder that are still on their way; zero: not at all. Mutexes
    /// and multi_mutexes, and exclusive and upgrade holds of a shared_mutex; errc::invalid_argument
    /// for others.
    ///
    /// A holder ends without a release when its session ends, or when another client deletes its
    /// znode (break_hold()). The first in the queue then waits, whatever its own options are, from
    /// when it saw that the holder's znode is gone, by its own clock. try_acquire() fails
    /// meanwhile. A release, a max_hold that passes and client::close() are followed by no delay,
    /// if the servers confirm them. A holder whose znode was deleted ends the delay by its release.
    ///
    /// Cost: one more write and round trip an acquire; a list for the participant behind. None for
    /// other participants. While it is held, the lock's directory has one more child.
    /// Limits: docs/operations.md.
    std::chrono::nanoseconds lock_delay{0};

    /// How often the lock may pass from one caller of this object to the next without the servers
    /// while another participant waits; UINT32_MAX: without a limit. Zero, the default: all
    /// participants are granted in the order of their arrival, and each hold has a znode of its
    /// own. Mutexes, recursive_mutexes and shared_mutexes; errc::invalid_argument for others, and
    /// together with max_hold or min_hold.
    ///
    /// While no other participant waits, the lock passes without a limit. Threads that run may pass
    /// threads that wait in acquire(), for about a millisecond. Each turn is a hold like any other,
    /// with a greater token, in the same znode. After 1,024 turns whose token was asked for, after
    /// a lost connection, after a transaction of unknown outcome, and after release_and_wait(), the
    /// place is given up, and the next caller joins the queue.
    ///
    /// Of a shared_mutex only exclusive holds pass so. Shared and upgrade holds, and holds whose
    /// mode was converted, are participants of their own.
    ///
    /// Cost: one more list after a grant, and one for each change of the lock's directory until
    /// another participant waits; no call waits for it. A turn sends nothing.
    std::uint32_t local_passes = 0;

    /// How long the lock may pass so, from when this client knows that another participant waits;
    /// zero: no limit but local_passes.
    std::chrono::nanoseconds local_time{0};

    /// How long this client keeps the lock after its release if no participant waits. Taking it
    /// again then needs no servers: well under a microsecond. The first participant of another
    /// client that queues gets it after one notification and one delete. The client also gives it
    /// up when its connection is lost, when another client asks for it (revoke()), when the mutex
    /// is destroyed, and when it keeps client_options::max_retained locks already. Zero: not at
    /// all. For the same objects, and at the same cost, as local_passes.
    std::chrono::nanoseconds retain_for{0};
};

}  // namespace latchkey::inline v0

#pragma once

#include <latchkey/acl.hpp>
#include <latchkey/event.hpp>
#include <latchkey/function.hpp>
#include <latchkey/log_record.hpp>
#include <latchkey/server_preference.hpp>
#include <latchkey/tls.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

/// Proves who this client is. It stays in memory as long as the client lives. Never put a secret on
/// a command line.
struct credentials {
    std::string scheme = "digest";
    std::string secret;  ///< for digest: "user:password"
};

/// How a client behaves. connect() checks all of it.
struct client_options {
    /// The session timeout to ask for. The servers may grant another one; by default they allow 2
    /// to 20 of their ticks. A holder that died is replaced after about this time. A hold stays
    /// valid for 0.55 of it after the last answered write was sent; for 0.69 of it if `tick` is
    /// given and at most a quarter of it.
    std::chrono::milliseconds session_timeout{10'000};

    /// The access control list of the znodes that this client creates. Empty: creator-only if there
    /// are credentials or a client's certificate (`tls`), otherwise open to everyone who reaches
    /// the servers (see open_unsafe_acl()). Missing levels above the directory of a recipe get the
    /// list of the level above instead, unless this one is open. A directory that exists keeps its
    /// list: if everyone has more rights on it, there is a line of the log ("open-directory").
    ///
    /// Errors: errc::invalid_argument for a digest entry whose id is not a user and a hash, and for
    /// a list that does not give this client READ, CREATE and DELETE, as far as its identities are
    /// known: it could not use or delete what it has created.
    acl access = {};

    /// What proves to the servers who this client is.
    std::vector<credentials> auth = {};

    /// How long close() may take to delete this client's znodes. Zero to one hour.
    std::chrono::milliseconds close_timeout{2'000};

    /// The servers' tickTime, or more. Zero means: at most half the session timeout, which servers
    /// guarantee unless their minimum session timeout was configured below two ticks. If it is
    /// given, holds survive longer outages. A value below the true tick keeps holds valid for too
    /// long. Clients of observers that get their data from a follower (observerMasterPort) must
    /// give twice the tick.
    std::chrono::milliseconds tick{0};

    /// How far clocks may be off. The clocks of this machine and of the servers are each assumed to
    /// run at the true rate within this fraction: 0.01 is one percent, 36 s in an hour. Clocks that
    /// NTP steers stay within 0.0005. Holds are not safe with clocks that drift further.
    double max_clock_drift = 0.01;

    /// Where this client can be reached by those that wait behind it, and by those that it waits
    /// behind: at most four numeric addresses, each with a port, 0 for any free one, or a range
    /// ("10.1.2.3:0", "[fd00::1]:4000", "10.1.2.3:4000-4100"). Empty: nowhere.
    ///
    /// With it, who releases a mutex, or the writer's hold of a shared mutex, tells the participant
    /// behind it by a datagram, at the same time as it deletes its znode on the servers. That one
    /// holds at once, under its own znode, instead of after a commit and an event of the servers.
    /// Both need such an address. A datagram that is lost costs nothing: the event still comes, and
    /// nobody waits for a datagram. Cost: one datagram for each participant that waits, repeated
    /// now and then, and one for each release.
    ///
    /// The participants' records contain the addresses, and a key that authenticates the datagrams:
    /// whoever can read them can reach the clients, and can tell the next participant that the one
    /// ahead has released (guarantee N6: who may write there can delete znodes as well). Reads of
    /// this client see everything that the holder before it has written through the library; reads
    /// of other clients may not yet.
    ///
    /// Errors: errc::invalid_argument for an address that cannot be used.
    std::vector<std::string> direct = {};

    /// If the process dies, end its sessions at once, instead of after the session timeout: what it
    /// held is free some milliseconds later. The value is the path of the program
    /// latchkey-guardian; empty: where it was installed. The first such client of a process starts
    /// it; all share it. Not set: there is none.
    ///
    /// The guardian is told each session's id and password, and the files of `tls`. It acts when
    /// the last process has ended, or has called exec(), that could use these clients: this one,
    /// and children that it forked. So nothing is freed while such a child lives. A program that
    /// hands what the lock protects to a child by exec() does not use it, or gives the child a lock
    /// of its own. A process that is stopped is not dead. If the guardian has died, or cannot reach
    /// a server, the session timeout counts as without it.
    ///
    /// Cost: one process, and a message to it for each connection. It ignores the signals of the
    /// terminal, and SIGTERM. Errors: errc::invalid_argument if it cannot be started.
    std::optional<std::string> guardian = std::nullopt;

    /// With which server to be connected. To find out, the client asks all of them at once with the
    /// word `srvr`, which servers allow by default, also through TLS: before the first connection,
    /// which waits for the answers for 300 ms or a twentieth of the session timeout at most, and
    /// after each connection to another server. As long as a server is silent that might be better,
    /// it asks again each minute. If no preferred server is known, any of them is used.
    ///
    /// The client moves to the better server only while it holds nothing, is not the next to hold,
    /// and has no request in flight. A move looks like a short loss of the connection: state
    /// listeners are told `suspended` and `reconnected`. All clients that prefer the leader share
    /// the load of one server. An ensemble in this process (latchkey::ensemble) has no distances.
    server_preference prefer = server_preference::any;

    /// How many locks the client keeps after their release (lock_options::retain_for), at most.
    /// Others are given up when they are released.
    std::size_t max_retained = 1'000;

    /// Encrypts all connections; unset: clear text. connect() reads the files, and fails with
    /// errc::invalid_argument if one of them cannot be used. A failed handshake counts as a server
    /// that does not answer: last_error() and the log have the reason.
    std::optional<tls_options> tls = {};

    /// Receives diagnostics, one line each: failed connects, deletes that the servers refuse,
    /// exceptions that leave callbacks, slow callbacks. Runs on the callback thread until the
    /// client is closed.
    std::function<void(const log_record&)> log = {};

    /// Is told what happens: acquires, holds, losses, transactions, requests. For metrics (see
    /// prometheus.hpp), traces and audits. It runs on a thread of its own, one event at a time and
    /// in order, and may block and call this library. Locks never wait for it: while 4096 events
    /// wait for it, later ones are dropped (client_stats::events_dropped). When close() has
    /// returned, it has been called with all events, unless it was so slow that close() gave up
    /// waiting. It must not throw (std::terminate). Without it, nothing is allocated for events and
    /// no thread is started.
    std::function<void(const event&)> observer = {};

    /// The name of this client in its log and its events.
    std::string name = {};

    /// Where listeners, handlers, `reserved`, `log` and coroutines run, instead of on the callback
    /// thread, which calls it then. Stop callbacks stay on the stop thread.
    ///
    ///     .executor = [&io](auto f) { boost::asio::post(io, std::move(f)); }
    ///
    /// - It must call the function that it gets once, on any thread. It must not throw. It is
    ///   called on the callback thread, and where one of its functions has returned. While it
    ///   blocks, the callbacks of this client wait, and close() waits for as long as it may. It
    ///   gets the next function only when the previous one has returned, so callbacks run one at a
    ///   time and in order, on a pool of threads too.
    /// - Blocking calls fail in these functions with errc::would_deadlock, as on the callback
    ///   thread.
    /// - Lifetime: it must be usable until close() has returned, and later for calls that are made
    ///   later. Functions that it has then may run after close() and after the client is gone: keep
    ///   what listeners and handlers refer to until they have run or are destroyed.
    /// - close() and destructors do not wait for what it got to run. If it destroys a function
    ///   without calling it, as a boost::asio::io_context that is destroyed does, the callbacks
    ///   that wait are destroyed uncalled: a hold in one of them is released, a coroutine that
    ///   waits for one stays suspended. The same if it throws.
    std::function<void(move_only_function<void()>)> executor = {};
};

}  // namespace latchkey::inline v0

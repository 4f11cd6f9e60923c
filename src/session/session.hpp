#pragma once

#include "loop/loop.hpp"
#include "session/request.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace latchkey {

/// What a one-shot watch saw. `created` is for a watch that `exists` has set, which no session of
/// this library does.
enum class watch_event : std::uint8_t { deleted, changed, children_changed, created };

/// What happens to a session as a whole.
struct session_event {
    enum class kind : std::uint8_t {
        connected,    ///< first, or again; `id` and `timeout` are what the server says now
        suspended,    ///< the connection is gone; the session may live
        expired,      ///< the session is over; the object only waits for its destruction
        auth_failed,  ///< the credentials were refused; the session is over
        trouble,      ///< an attempt to connect failed; `detail` says how, for people
    };

    kind what = kind::trouble;
    std::int64_t id = 0;                  ///< connected
    std::chrono::milliseconds timeout{};  ///< connected: as negotiated
    loop::clock::time_point begun{};      ///< connected: before anything was sent on the connection
    std::string detail;                   ///< trouble, auth_failed
};

/// One ZooKeeper session as an asynchronous interface. It dies once and never returns; a new one is
/// a new object.
///
/// All calls are made on the loop and all callbacks are made there, never from inside a call.
/// Requests are sent in the order submitted, except that an urgent one does not wait on this side
/// while a connection exists. Each request completes exactly once, also on loss.
/// Completions, watches and events come one at a time, in ZooKeeper's order: an event that a change
/// caused comes before any answer that shows the change, and `suspended` before the answers lost
/// with the connection.
///
/// A connection starts without watches: those of the one before have ended with it, without a call.
/// What is read on it may be older than what was seen on the one before, until a write was answered
/// on it.
class session {
public:
    using completion = std::function<void(reply)>;
    using watcher = std::function<void(watch_event)>;
    using event_handler = std::function<void(const session_event&)>;

    session() = default;
    session(const session&) = delete;
    session& operator=(const session&) = delete;

    /// Drops the connection at once, without ending the session on the servers (a session that is
    /// to end was closed). No callback is made any more: requests still in flight are forgotten,
    /// and their closures destroyed.
    virtual ~session() = default;

    /// Sends one request. While there is no connection it is kept and sent with the next one,
    /// behind urgent ones that the handler of `connected` submits, or completed with
    /// `connection_loss` when the next attempt fails. After the end of the session:
    /// `session_expired`; after close(): `closing`.
    virtual void submit(request r, completion done) = 0;

    /// The same with a one-shot watch: data for `get`, children for `children`, nothing else. The
    /// watch is set when the answer is `ok`, and ends with the connection. The caller owns it: once
    /// `w` is gone the watch is as if never set, and what the servers still have of it is bounded
    /// by one watch a path and kind. Any number of watchers share it.
    virtual void submit(request r, const std::shared_ptr<watcher>& w, completion done) = 0;

    /// Gives up the present connection, as after a failure of it, and goes on with the next server.
    virtual void reconnect() = 0;

    /// Ends the session on the servers, if they can be reached, without waiting for them beyond a
    /// second. Everything still in flight completes with `closing`; then `done` is called, and
    /// nothing after it.
    virtual void close(std::function<void()> done) = 0;
};

/// How a session is to be opened.
struct session_options {
    struct endpoint {
        std::string host;  ///< a name or a numeric address; IPv6 without brackets
        std::uint16_t port = 2181;
        bool operator==(const endpoint&) const = default;
    };

    struct identity {
        std::string scheme;
        std::string secret;
    };

    std::vector<endpoint>
        servers;  ///< at least one; tried in an order shuffled with the loop's randomness
    std::chrono::milliseconds timeout{};
    std::vector<identity> identities;
};

/// Opens sessions: the ensemble that a client talks to, real or in this process.
class session_factory {
public:
    session_factory() = default;
    session_factory(const session_factory&) = delete;
    session_factory& operator=(const session_factory&) = delete;
    virtual ~session_factory() = default;

    /// Starts connecting; the result comes as events. On the loop only. Never throws for what the
    /// network does: a name that cannot be resolved is `trouble`, and is tried again with capped
    /// backoff.
    [[nodiscard]] virtual std::unique_ptr<session> open(const session_options& options,
                                                        session::event_handler events) = 0;
};

}  // namespace latchkey

#pragma once

#include <latchkey/server_preference.hpp>

#include "loop/loop.hpp"
#include "session/request.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::inline v0 {

/// What a one-shot watch saw. `created` is for watches that `exists` sets; this library sets none.
enum class watch_event : std::uint8_t { deleted, changed, children_changed, created };

/// What happens to a session as a whole.
struct session_event {
    enum class kind : std::uint8_t {
        connected,    ///< first, or again; `id` and `timeout` are the server's answer
        suspended,    ///< the connection is gone; the session may still live
        expired,      ///< the session is over; the object only waits for its destruction
        auth_failed,  ///< the credentials were refused; the session is over
        trouble,      ///< an attempt to connect failed; `detail` says how, for people
    };

    /// What has led to trouble.
    enum class cause : std::uint8_t {
        unreachable,  ///< there was no connection to a server
        malformed,    ///< a frame that is not ZooKeeper's protocol, or an answer that was left out
        wrong_answer  ///< such a frame, of a server that had accepted the session before
    };

    kind what = kind::trouble;
    std::int64_t id = 0;                  ///< connected
    std::chrono::milliseconds timeout{};  ///< connected: as granted
    loop::clock::time_point begun{};      ///< connected: before anything was sent on the connection
    cause why = cause::unreachable;       ///< trouble
    std::string detail = {};              ///< trouble, auth_failed
    std::array<char, 16> password{};      ///< connected: continues the session, with `id`
};

/// What lets another process of the same owner continue a session. Secret.
struct session_claim {
    std::int64_t id = 0;  ///< 0: there is no session
    std::array<char, 16> password{};
    std::chrono::milliseconds timeout{};  ///< as granted

    bool operator==(const session_claim&) const = default;
};

/// One ZooKeeper session as an asynchronous interface. It ends once and never returns; its
/// successor is a new object.
///
/// All calls are made on the loop, and all callbacks run there, never inside a call. Requests are
/// sent in the order in which they were submitted, except that an urgent one does not wait on this
/// side while there is a connection. Each request completes exactly once, also on loss.
/// Completions, watches and events come one at a time, in ZooKeeper's order: an event comes before
/// any answer that shows its change, and `suspended` before the answers that were lost with the
/// connection.
///
/// A connection starts without watches. Those of the connection before have ended with it, without
/// a call. Until a write was answered on a connection, what is read on it may be older than what
/// was seen on the connection before.
class session {
public:
    using completion = std::function<void(reply)>;
    using event_handler = std::function<void(const session_event&)>;

    /// What a watch notifies. Sessions do not keep the paths of their watches, because there may be
    /// thousands: they keep a hash of each.
    class watcher {
    public:
        watcher() = default;
        watcher(const watcher&) = delete;
        watcher& operator=(const watcher&) = delete;
        virtual ~watcher() = default;

        /// Whether its watch is on `path`, as it was submitted, and not on another path of the same
        /// hash. A watcher that the event of another path cannot mislead may say yes to all.
        [[nodiscard]] virtual bool is_on(std::string_view path) const noexcept = 0;

        /// On the loop. May drop the last reference to the watcher.
        virtual void on_event(watch_event what) = 0;
    };

    session() = default;
    session(const session&) = delete;
    session& operator=(const session&) = delete;

    /// Drops the connection at once, without ending the session on the servers (use close() for
    /// that). No callback follows: requests in flight are forgotten, and their closures destroyed.
    virtual ~session() = default;

    /// Sends one request. Without a connection, it is kept and sent with the next one, behind
    /// urgent requests that the handler of `connected` submits; if the next attempt to connect
    /// fails, it completes with `connection_loss`. After the end of the session it completes with
    /// `session_expired`, after close() with `closing`.
    virtual void submit(request r, completion done) = 0;

    /// As above, with a one-shot watch: data for `get`, children for `children`, nothing else. The
    /// watch is set when the answer is `ok`, and ends with the connection. The caller owns it: when
    /// `w` is gone, the watch has no effect any more, and the servers keep at most one watch for
    /// each path and kind. Any number of watchers share that one.
    virtual void submit(request r, const std::shared_ptr<watcher>& w, completion done) = 0;

    /// Gives up the present connection as if it had failed, and continues with the next server.
    virtual void reconnect() = 0;

    /// Ends the session on the servers, if they can be reached, without waiting for them for more
    /// than a second. Everything in flight completes with `closing`. Then `done` is called, and
    /// nothing after it.
    virtual void close(std::function<void()> done) = 0;
};

/// How to open a session.
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
    std::vector<identity> identities = {};
    session_claim continued = {};  ///< without an id: a new session
    server_preference prefer = server_preference::any;
    /// With a preference: whether nobody would notice that the connection is another one now.
    std::function<bool()> is_idle = {};
};

/// Opens sessions with the ensemble that a client uses, real or in this process.
class session_factory {
public:
    session_factory() = default;
    session_factory(const session_factory&) = delete;
    session_factory& operator=(const session_factory&) = delete;
    virtual ~session_factory() = default;

    /// Starts to connect; the result is reported by events. On the loop only. Never throws because
    /// of the network: a name that cannot be resolved is `trouble`, and is tried again after
    /// growing pauses.
    [[nodiscard]] virtual std::unique_ptr<session> open(const session_options& options,
                                                        session::event_handler events) = 0;
};

}  // namespace latchkey::inline v0

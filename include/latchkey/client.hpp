#pragma once

#include <latchkey/acl.hpp>
#include <latchkey/error.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey {

class client_core;

/// What a client knows of its session.
enum class connection_state : std::uint8_t {
    connecting,  ///< not connected yet, for the first time; never told to listeners
    connected,   ///< a session, new to this client
    suspended,  ///< the connection is gone, the session perhaps alive: holds stay valid until their
                ///< deadline
    reconnected,  ///< the same session again
    lost,    ///< the session is gone, or validity could no longer be proven: every hold is lost
    closed,  ///< the last one
};

[[nodiscard]] const char* to_string(connection_state s) noexcept;

/// Proves who this client is; kept in memory as long as the client lives. Never put a secret on a
/// command line.
struct credentials {
    std::string scheme = "digest";
    std::string secret;  ///< for digest: "user:password"
};

/// How a client behaves. All durations are checked by connect().
struct client_options {
    /// Asked for; the servers may negotiate another (by default they allow 2 to 20 of their ticks).
    /// A dead holder is replaced after about this time. A hold is believed for 0.55 of it after
    /// the last answered write was sent, for 0.69 with a `tick` of a fifth of it.
    std::chrono::milliseconds session_timeout{10'000};

    /// For the znodes this client creates. Empty: creator-only if there are credentials, else open
    /// to everybody who reaches the servers (see open_unsafe_acl()).
    acl access = {};

    std::vector<latchkey::credentials> credentials = {};

    /// How long close() may take to delete what this client has on the servers.
    std::chrono::milliseconds close_timeout{2'000};

    /// The servers' tickTime, or more. Zero: at most half the session timeout, which servers
    /// guarantee unless their minimum session timeout was configured below two ticks. Given, it
    /// lets holds survive longer outages; less than the true one lets them be believed too long.
    /// Clients of observers that get their data from a follower (observerMasterPort) give twice the
    /// tick.
    std::chrono::milliseconds tick{0};

    /// The clock of this machine and those of the servers are each assumed to run at the true rate
    /// within this fraction: 0.01 is one percent, 36 s in an hour. Clocks that NTP or the like
    /// steers stay within 0.0005. Holds are not safe with clocks that run further apart.
    double max_clock_drift = 0.01;

    /// Clear text, or TLS; TLS is errc::unsupported where the C client is built without it
    /// (Debian's), never clear text instead.
    enum class transport_kind : std::uint8_t { clear_text, tls };
    transport_kind transport = transport_kind::clear_text;

    /// Diagnostics for people, a line each: failed connects, deletes that are refused, exceptions
    /// that callbacks let out, slow callbacks. Runs on the callback thread until the client is
    /// closed.
    std::function<void(std::string_view)> log = {};
};

/// A listener's registration; ends it when destroyed. After the destructor has returned the
/// listener is not running and will not run, unless the destructor was called by the listener
/// itself.
class [[nodiscard]] subscription {
public:
    subscription() noexcept = default;

    explicit subscription(std::shared_ptr<void> registered) noexcept
        : registered_(std::move(registered)) {}

private:
    std::shared_ptr<void> registered_;
};

/// A long-lived connection to an ensemble. Has at most one session at a time and replaces a lost
/// one by itself.
///
/// - Threads: all members from any thread. The client runs the user's functions on two threads of
///   its own. Listeners, handlers, `reserved` and `log` run on the callback thread, one at a time
///   and in order. Stop callbacks of the tokens that the library hands out (lost(),
///   revocation_requested(), hand_over_requested()) run on the stop thread, one at a time and in
///   order. It runs nothing else, so a callback that takes long never delays the news of a loss. A
///   stop callback may run at the same time as a listener or a handler, and must not throw
///   (std::terminate). Blocking calls of this library are refused on both threads
///   (errc::would_deadlock). What a function has captured is destroyed by one of the user's threads
///   or by the callback thread, never by the library's event thread.
/// - Slow callbacks: the first function on each of the two threads that runs for longer than a
///   tenth of the session timeout is reported through `log`. The line waits for the callback
///   thread as all lines do: while a listener, a handler or `log` itself does not return, only
///   callback_running_for() shows it.
/// - Lifetime: recipes and holds may outlive the client; they are closed with it. Destroying the
///   last client ends the library's event thread. In a forked child every object made before the
///   fork is inert: errc::forked, valid() is false, destructors do nothing; a new client may be
///   connected there.
/// - Cost: idle, a small read every 5/16 of the session timeout. While something is held or next in
///   line, one quorum write every seventh of it, however many holds there are, and one more T/16
///   after a first write. Two threads, which sleep while there is nothing to call.
/// - States: a client that was moved from is closed. Calls that need an open client throw
///   errc::closed, also in the constructors of recipes.
class client {
public:
    using state_listener = std::function<void(connection_state)>;

    /// Starts connecting and returns at once; recipes may be used immediately and wait for the
    /// connection.
    ///
    /// `servers` is "host:port,host:port,...[/chroot]": names or addresses, IPv6 in brackets, port
    /// 2181 if left out. The chroot is created with the first znode below it. Errors:
    /// errc::invalid_argument, errc::unsupported; std::errc::resource_unavailable_try_again if no
    /// thread can be started.
    [[nodiscard]] static client connect(std::string_view servers, client_options options = {});

    client(client&&) noexcept = default;
    client& operator=(client&&) noexcept;
    client(const client&) = delete;
    client& operator=(const client&) = delete;

    /// close().
    ~client();

    [[nodiscard]] connection_state state() const noexcept;

    /// Waits until connected: true; false when the time is over or `stop` is requested (see
    /// trouble()). Errors: errc::closed, errc::authentication_failed, errc::would_deadlock.
    bool wait_connected(std::chrono::nanoseconds limit, std::stop_token stop = {});

    /// What the last failed attempt to connect met, for people ("cannot resolve host 'zk9': ...").
    /// Empty after success.
    [[nodiscard]] std::string trouble() const;

    /// The present session, 0 if there is none. Identifies it in the servers' logs; treat it as
    /// sensitive.
    [[nodiscard]] std::int64_t session_id() const noexcept;

    /// As negotiated with the servers; zero before the first connection.
    [[nodiscard]] std::chrono::milliseconds session_timeout() const noexcept;

    /// For how long the user's function that runs now (a listener, handler, `log` or stop callback)
    /// has been running; of two the longer time, zero if none runs. For a program's health checks:
    /// callbacks should return within milliseconds, and other callbacks wait for them.
    [[nodiscard]] std::chrono::nanoseconds callback_running_for() const noexcept;

    /// Calls `listener` with every change of state from now on. States are coalesced when the
    /// listener is slow: a `suspended` that was followed by `reconnected` may be left out; `lost`
    /// and `closed` never are.
    subscription listen(state_listener listener);

    /// Ends the session: what waits fails with errc::closed, holds are lost (loss::client_closed),
    /// znodes are deleted. Blocks at most for options.close_timeout (and a second for the servers'
    /// farewell). May be called again. On the callback thread and the stop thread it does not wait.
    /// While no server can be reached the session cannot be ended: its znodes go when the servers
    /// end it, after its timeout.
    void close() noexcept;

private:
    friend class client_core;
    explicit client(std::shared_ptr<client_core> core) noexcept;

    std::shared_ptr<client_core> core_;
};

}  // namespace latchkey

#pragma once

#include <latchkey/acl.hpp>
#include <latchkey/error.hpp>
#include <latchkey/transaction.hpp>
#include <latchkey/znode.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace latchkey {

class client_core;

/// What a client knows about its session.
enum class connection_state : std::uint8_t {
    connecting,  ///< not connected for the first time yet; never reported to listeners
    connected,   ///< connected, with a new session
    suspended,  ///< the connection is gone, the session perhaps alive: holds stay valid until their
                ///< deadline
    reconnected,  ///< the same session again
    lost,    ///< the session is gone, or validity could no longer be proven: every hold is lost
    closed,  ///< the client was closed; no other state follows
};

[[nodiscard]] const char* to_string(connection_state s) noexcept;

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
    /// are credentials, otherwise open to everyone who reaches the servers (see open_unsafe_acl()).
    acl access = {};

    std::vector<latchkey::credentials> credentials = {};

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

    /// Clear text or TLS. TLS fails with errc::unsupported if the C client was built without it, as
    /// Debian's was; the client never uses clear text instead.
    enum class transport_kind : std::uint8_t { clear_text, tls };
    transport_kind transport = transport_kind::clear_text;

    /// Receives diagnostics for people, one line each: failed connects, deletes that the servers
    /// refuse, exceptions that leave callbacks, slow callbacks. Runs on the callback thread until
    /// the client is closed.
    std::function<void(std::string_view)> log = {};
};

/// The registration of a listener, which ends when this object is destroyed. When the destructor
/// has returned, the listener is not running and will not run again. (A listener that destroys its
/// own subscription runs to its end.)
class [[nodiscard]] subscription {
public:
    subscription() noexcept = default;

    explicit subscription(std::shared_ptr<void> registered) noexcept
        : registered_(std::move(registered)) {}

private:
    std::shared_ptr<void> registered_;
};

/// A long-lived client of an ensemble; all recipes work through one. It has at most one session at
/// a time, and replaces a lost session by a new one.
///
///     latchkey::client zk = latchkey::client::connect("zk1,zk2,zk3/app");
///     const auto watching = zk.listen([](latchkey::connection_state s) { print(to_string(s)); });
///
/// - Threads: any thread may call any member. The client runs the user's functions on two threads
///   of its own, on each of them one at a time and in order. The *callback thread* runs listeners,
///   handlers, `reserved` and `log`. The *stop thread* runs the stop callbacks of the tokens that
///   the library hands out (lost(), revocation_requested(), hand_over_requested()) and nothing
///   else, so a slow listener never delays the news of a loss. A stop callback may run at the same
///   time as a listener or a handler, and must not throw (std::terminate). Blocking calls of this
///   library fail on both threads with errc::would_deadlock.
/// - Captures: what a function has captured is destroyed on a thread of the user's or on the
///   callback thread, never on the library's event thread.
/// - Slow callbacks: the first function on each of the two threads that runs for more than a tenth
///   of the session timeout is reported through `log`. The line waits until the callback thread is
///   free. Until then only callback_running_for() shows the delay.
/// - Lifetime: recipes and holds may outlive the client; they are closed with it. Destroying the
///   last client ends the library's event thread. A client that was moved from is closed.
/// - Fork: in a forked child, every object made before the fork is inert. Calls fail with
///   errc::forked, valid() is false, destructors do nothing. The child may connect a new client.
/// - Errors: calls that need an open client throw errc::closed, and so do constructors of recipes.
/// - Cost: an idle client sends one small read every 5/16 of the session timeout T. A client that
///   holds something, or is next in a queue, sends one quorum write every T/7, however many holds
///   it has. After the first write of an idle client, another one follows T/16 later. The two
///   threads sleep while there is nothing to call.
class client {
public:
    using state_listener = std::function<void(connection_state)>;
    using get_handler = std::function<void(std::error_code, std::optional<znode>)>;
    using exists_handler = std::function<void(std::error_code, std::optional<znode_stat>)>;
    using children_handler = std::function<void(std::error_code, std::vector<std::string>)>;
    using transact_handler = std::function<void(std::error_code, std::vector<op_result>)>;

    /// Starts to connect, and returns at once. Recipes may be used immediately; they wait for the
    /// connection.
    ///
    /// `servers` is "host:port,host:port,...[/chroot]": names or addresses, IPv6 in brackets, port
    /// 2181 by default. The chroot is created with the first znode below it. Errors:
    /// errc::invalid_argument, errc::unsupported; std::errc::resource_unavailable_try_again if no
    /// thread can be started.
    [[nodiscard]] static client connect(std::string_view servers, client_options options = {});

    client(client&&) noexcept = default;
    client& operator=(client&&) noexcept;
    client(const client&) = delete;
    client& operator=(const client&) = delete;

    /// Calls close().
    ~client();

    [[nodiscard]] connection_state state() const noexcept;

    /// Waits until the client is connected. Returns false when the time is over or `stop` is
    /// requested; trouble() says why. Errors: errc::closed, errc::authentication_failed,
    /// errc::would_deadlock.
    bool wait_connected(std::chrono::nanoseconds limit, std::stop_token stop = {});

    /// Why the last attempt to connect failed, for people ("cannot resolve host 'zk9': ..."). Empty
    /// after a success.
    [[nodiscard]] std::string trouble() const;

    /// The id of the present session, or 0 if there is none. It identifies the session in the
    /// servers' logs. Treat it as sensitive.
    [[nodiscard]] std::int64_t session_id() const noexcept;

    /// The session timeout that the servers granted; zero before the first connection.
    [[nodiscard]] std::chrono::milliseconds session_timeout() const noexcept;

    /// For how long the user's function that runs now (a listener, handler, `log` or stop callback)
    /// has been running: the longer time of the two threads, or zero if none runs. For health
    /// checks: a callback should return within milliseconds, because other callbacks wait for it.
    [[nodiscard]] std::chrono::nanoseconds callback_running_for() const noexcept;

    /// Calls `listener` with every change of state from now on. A slow listener gets a shorter
    /// sequence: a `suspended` that was followed by `reconnected` may be left out. `lost` and
    /// `closed` never are.
    subscription listen(state_listener listener);

    /// Read a znode: get() its data and stat, exists() its stat, children() the sorted names of its
    /// children. Without the znode, get() and exists() return nothing, and children() fails
    /// (errc::no_such_znode). `from` says what is seen, and at what cost.
    ///
    /// A read waits for a connection and is repeated if its answer is lost, for at most the session
    /// timeout (errc::unreachable). Other errors: errc::invalid_argument for a bad path,
    /// not_authorized, closed, forked, would_deadlock. The async forms throw forked, and call
    /// `handler` once, on the callback thread, with every other error.
    [[nodiscard]] std::optional<znode> get(std::string path,
                                           read_from from = read_from::any_server) const;
    std::optional<znode> get(std::string path, read_from from, std::error_code& ec) const;
    void async_get(std::string path, read_from from, get_handler handler) const;
    [[nodiscard]] std::optional<znode_stat> exists(std::string path,
                                                   read_from from = read_from::any_server) const;
    std::optional<znode_stat> exists(std::string path, read_from from, std::error_code& ec) const;
    void async_exists(std::string path, read_from from, exists_handler handler) const;
    [[nodiscard]] std::vector<std::string> children(std::string path,
                                                    read_from from = read_from::any_server) const;
    std::vector<std::string> children(std::string path, read_from from, std::error_code& ec) const;
    void async_children(std::string path, read_from from, children_handler handler) const;

    /// Commits all operations or none of them; no hold guards them. Waits for a connection as a
    /// read does (errc::unreachable: nothing was sent), sends one request, and never repeats it.
    /// Errors as hold::transact(), whose errc::indeterminate too. Cost: 1 request, 1 round trip.
    std::vector<op_result> transact(std::vector<operation> operations) const;
    std::vector<op_result> transact(std::vector<operation> operations, std::error_code& ec) const;
    void async_transact(std::vector<operation> operations, transact_handler handler) const;

    /// Ends the session. Calls that wait fail with errc::closed, holds are lost
    /// (loss::client_closed), and the client's znodes are deleted. Blocks for at most
    /// options.close_timeout, and one more second for the servers to end the session. On the
    /// callback thread and the stop thread it does not wait. While no server can be reached, the
    /// session cannot be ended: the servers remove its znodes when its timeout is over. May be
    /// called again.
    void close() noexcept;

private:
    friend class client_core;
    explicit client(std::shared_ptr<client_core> core) noexcept;

    std::shared_ptr<client_core> core_;
};

}  // namespace latchkey

#pragma once

#include <latchkey/awaitable.hpp>
#include <latchkey/client_options.hpp>
#include <latchkey/client_stats.hpp>
#include <latchkey/connection_state.hpp>
#include <latchkey/duration.hpp>
#include <latchkey/error.hpp>
#include <latchkey/export.hpp>
#include <latchkey/function.hpp>
#include <latchkey/shared_ref.hpp>
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
#include <utility>
#include <vector>

namespace latchkey::inline v0 {

class client_core;

/// The registration of a listener, which ends when this object is destroyed. When the destructor
/// has returned, the listener is not running and will not run again. (A listener that destroys its
/// own subscription runs to its end.) Any thread may destroy, assign or move one, one at a time.
class [[nodiscard]] subscription {
public:
    subscription() noexcept = default;

    [[nodiscard]] explicit subscription(std::shared_ptr<void> registered) noexcept
        : registered_(std::move(registered)) {}

private:
    std::shared_ptr<void> registered_;
};

/// A long-lived client of an ensemble; all recipes work through one. It has at most one session at
/// a time, and replaces a lost session by a new one.
///
///     latchkey::client zk = latchkey::client::connect("zk1,zk2,zk3/app");
///     const auto watching = zk.on_change([](latchkey::connection_state s) { print(to_string(s));
///     });
///
/// - Threads: any thread may call any member, also while another thread assigns or moves this
///   object. The client runs the user's functions on two threads of its own, on each of them one at
///   a time and in order. The *callback thread* runs listeners, handlers, `reserved` and `log`. The
///   *stop thread* runs the stop callbacks of the tokens that the library hands out (lost(),
///   at_risk(), revocation_requested(), hand_over_requested(), that of a leader_selector's
///   function) and nothing else. A stop callback may run at the same time as a listener or a
///   handler, and must not throw (std::terminate). Blocking calls of this library fail on both
///   threads with errc::would_deadlock.
/// - A function that does not return delays what waits for its thread, and nothing else: no other
///   client, no heartbeat, no grant, no blocking call. So a listener never delays the news of a
///   loss.
/// - Captures: what a function has captured is destroyed on a thread of the user's or on one of
///   those two, never on the library's event thread.
/// - Slow callbacks: the first function on each of the two threads that runs for more than a tenth
///   of the session timeout is reported through `log`. The line waits until the callback thread is
///   free. Until then only callback_running_for() shows the delay.
/// - Lifetime: a client object is a handle that may be copied. Recipes and holds may outlive the
///   last handle; they are closed with it. Destroying the last client ends the library's event
///   thread.
/// - Fork: in a forked child, every object made before the fork is inert. Calls fail with
///   errc::forked, valid() is false, destructors do nothing. The child may connect a new client.
/// - Errors: calls that need an open client throw errc::closed, and so do constructors of recipes.
/// - Cost: an idle client sends one small read every 5/16 of the session timeout T. A client that
///   holds something, or is next in a queue, sends one quorum write every T/7, however many holds
///   it has. After the first write of an idle client, another one follows T/16 later. The two
///   threads sleep while there is nothing to call.
class [[nodiscard]] LATCHKEY_EXPORT client {
public:
    using state_listener = std::function<void(connection_state)>;
    using get_handler = move_only_function<void(std::error_code, std::optional<znode>)>;
    using exists_handler = move_only_function<void(std::error_code, std::optional<znode_stat>)>;
    using children_handler = move_only_function<void(std::error_code, std::vector<std::string>)>;
    using transact_handler =
        move_only_function<void(std::error_code, std::vector<operation_result>)>;

    /// Starts to connect, and returns at once. Recipes may be used immediately; they wait for the
    /// connection.
    ///
    /// `servers` is "host:port,host:port,...[/chroot]": names or addresses, IPv6 in brackets, port
    /// 2181 by default. The chroot is created with the first znode below it. Errors:
    /// errc::invalid_argument, errc::unsupported; std::errc::resource_unavailable_try_again if no
    /// thread can be started.
    [[nodiscard]] static client connect(std::string_view servers, client_options options = {});

    /// Copies are handles of the same client. The last one that is destroyed calls close(). A
    /// client that was moved from is closed: its calls fail with errc::closed.
    client(const client&) noexcept = default;
    client(client&&) noexcept = default;
    client& operator=(const client&) noexcept = default;
    client& operator=(client&&) noexcept = default;
    ~client() = default;

    [[nodiscard]] connection_state state() const noexcept;

    /// Waits until the client is connected. Returns false when the time is over or `stop` is
    /// requested; last_error() says why. Errors: errc::closed, errc::authentication_failed,
    /// errc::would_deadlock.
    template <duration_like Duration>
    [[nodiscard]] bool wait_connected(const Duration& timeout,
                                      std::stop_token stop = {},
                                      std::error_code& ec = throws()) const {
        return connected_within(to_nanoseconds(timeout), std::move(stop), ec);
    }

    /// Why the last attempt to connect failed, for people ("cannot resolve host 'zk9': ..."). Empty
    /// after a success.
    [[nodiscard]] std::string last_error() const;

    /// The id of the present session, or 0 if there is none. It identifies the session in the
    /// servers' logs. Treat it as sensitive.
    [[nodiscard]] std::int64_t session_id() const noexcept;

    /// The session timeout that the servers granted; zero before the first connection.
    [[nodiscard]] std::chrono::milliseconds session_timeout() const noexcept;

    /// For how long the user's function that runs now (a listener, handler, `log` or stop callback)
    /// has been running: the longer time of the two threads, or zero if none runs. For health
    /// checks: a callback should return within milliseconds, because other callbacks wait for it.
    [[nodiscard]] std::chrono::nanoseconds callback_running_for() const noexcept;

    /// What this client has done until now, and how it is doing. Sends no request, takes no lock
    /// that is held for long, and does not throw: for a scrape, or a health check.
    [[nodiscard]] client_stats stats() const noexcept;

    /// A function that reads stats() at any time, and does not keep the client open.
    [[nodiscard]] std::function<client_stats()> stats_reader() const;

    /// Calls `listener` with every change of state from now on. A slow listener gets a shorter
    /// sequence: a `suspended` that was followed by `reconnected` may be left out. `lost` and
    /// `closed` never are.
    subscription on_change(state_listener listener) const;

    /// Read a znode: get() its data and stat, exists() its stat, children() the sorted names of its
    /// children. Without the znode, get() and exists() return nothing, and children() fails
    /// (errc::no_such_znode). `from` says what is seen, and at what cost. They need READ on the
    /// znode; exists() does only from ZooKeeper 3.8.4 and 3.9.2 on.
    ///
    /// A read waits for a connection and is repeated if its answer is lost, for at most the session
    /// timeout (errc::unreachable). Other errors: errc::invalid_argument for a bad path,
    /// not_authorized, closed, forked, would_deadlock. The async forms throw forked, and call
    /// `handler` once, on the callback thread, with every other error.
    [[nodiscard]] std::optional<znode> get(std::string path,
                                           read_from from = read_from::any_server,
                                           std::error_code& ec = throws()) const;

    [[nodiscard]] std::optional<znode> get(std::string path, std::error_code& ec) const {
        return get(std::move(path), read_from::any_server, ec);
    }

    void async_get(std::string path, read_from from, get_handler handler) const;
    [[nodiscard]] awaitable<std::optional<znode>> get_async(
        std::string path, read_from from = read_from::any_server) const;

    [[nodiscard]] std::optional<znode_stat> exists(std::string path,
                                                   read_from from = read_from::any_server,
                                                   std::error_code& ec = throws()) const;

    [[nodiscard]] std::optional<znode_stat> exists(std::string path, std::error_code& ec) const {
        return exists(std::move(path), read_from::any_server, ec);
    }

    void async_exists(std::string path, read_from from, exists_handler handler) const;
    [[nodiscard]] awaitable<std::optional<znode_stat>> exists_async(
        std::string path, read_from from = read_from::any_server) const;

    [[nodiscard]] std::vector<std::string> children(std::string path,
                                                    read_from from = read_from::any_server,
                                                    std::error_code& ec = throws()) const;

    [[nodiscard]] std::vector<std::string> children(std::string path, std::error_code& ec) const {
        return children(std::move(path), read_from::any_server, ec);
    }

    void async_children(std::string path, read_from from, children_handler handler) const;
    [[nodiscard]] awaitable<std::vector<std::string>> children_async(
        std::string path, read_from from = read_from::any_server) const;

    /// Commits all operations or none of them; no hold guards them. Waits for a connection as a
    /// read does (errc::unreachable: nothing was sent), sends one request, and never repeats it.
    /// Errors as hold::transact(), whose errc::indeterminate too. Cost: 1 request, 1 round trip.
    std::vector<operation_result> transact(std::vector<operation> operations,
                                           std::error_code& ec = throws()) const;
    void async_transact(std::vector<operation> operations, transact_handler handler) const;
    [[nodiscard]] awaitable<std::vector<operation_result>> transact_async(
        operation_list operations) const;

    /// Ends the session. Calls that wait fail with errc::closed, holds are lost
    /// (loss_reason::client_closed), and the client's znodes are deleted. Blocks for at most
    /// options.close_timeout, and one more second for the servers to end the session. On the
    /// callback thread and the stop thread it does not wait. While no server can be reached, the
    /// session cannot be ended: the servers remove its znodes when its timeout is over. May be
    /// called again.
    void close() const noexcept;

private:
    friend class client_core;
    class LATCHKEY_HIDDEN owner;
    explicit client(std::shared_ptr<client_core> core);

    [[nodiscard]] bool connected_within(std::chrono::nanoseconds timeout,
                                        std::stop_token stop,
                                        std::error_code& ec) const;

    [[nodiscard]] std::shared_ptr<client_core> usable() const noexcept;

    shared_ref<owner> owner_;
};

}  // namespace latchkey::inline v0

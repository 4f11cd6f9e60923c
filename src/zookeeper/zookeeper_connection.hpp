#pragma once

#include "session/session.hpp"
#include "session/watch_registry.hpp"
#include "tls/tls_tunnel.hpp"
#include "zookeeper/frame_gate.hpp"
#include "zookeeper/requests_in_flight.hpp"
#include "zookeeper/server_list.hpp"
#include "zookeeper/socket_watch.hpp"
#include "zookeeper/zookeeper_handle.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

/// One TCP connection to one server, from the attempt to its end: a handle of the C client, its
/// socket, and the requests and watches that live and end with it.
///
/// On the loop only. The listener, completions and watchers are called inside work() and end().
/// They may call send() and forget(), but must not destroy the connection.
class zookeeper_connection final : zookeeper_handle::observer {
public:
    class listener {
    public:
        listener() = default;
        listener(const listener&) = delete;
        listener& operator=(const listener&) = delete;
        virtual ~listener() = default;

        /// The server has accepted the session. Called before any answer.
        virtual void connected() noexcept = 0;
        /// A connection that was connected is over. Called once, before the answers that were lost
        /// with it.
        virtual void disconnected(zookeeper_handle::state why) noexcept = 0;
    };

    struct target {
        const server_address& server;
        const std::shared_ptr<tls_identity>& tls;  ///< null: clear text
        std::chrono::milliseconds timeout;
        session_key session;
        const std::vector<session_options::identity>& identities;
    };

    /// `ready` is called on the loop when work() has something to do. Throws std::system_error if
    /// the C client cannot be started.
    zookeeper_connection(io_loop& l, const target& to, listener& told, socket_watch::handler ready);

    /// Like end(), but destroys the closures of unanswered requests without calling them.
    ~zookeeper_connection() override;

    /// Reads what has arrived, writes what can be written, pings. Returns false when the
    /// connection, or the attempt, is over: then only destroy it. Throws std::system_error if there
    /// are no more descriptors.
    [[nodiscard]] bool work(bool readable, bool writable);

    /// Gives a request to the C client; the next work() sends it. `r` must be acceptable(). If the
    /// result is not `ok`, nothing was sent and `done` is not called.
    [[nodiscard]] result_code send(const request& r,
                                   bool watched,
                                   std::weak_ptr<session::watcher> w,
                                   session::completion& done);

    [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_.size(); }

    /// Ends the connection; the session lives on at the servers. Unanswered requests complete with
    /// an unknown outcome. After that, only destroy it.
    void end() noexcept { handle_.reset(); }

    /// Whether it was ever connected.
    [[nodiscard]] bool was_connected() const noexcept { return connected_; }

    /// After it was connected.
    [[nodiscard]] session_key session() const noexcept { return handle_->session(); }

    /// The timeout that was granted, after it was connected.
    [[nodiscard]] std::chrono::milliseconds timeout() const noexcept { return handle_->timeout(); }

    /// Why work() returned false, for people.
    [[nodiscard]] std::string failure() const;

    /// Why work() returned false, for programs.
    [[nodiscard]] session_event::cause cause() const noexcept;

    /// What the server has not done within the limit, for people: "no answer within 400 ms".
    [[nodiscard]] std::string unanswered_within(std::chrono::milliseconds limit) const;

    /// Null without TLS. Whoever takes the socket keeps it.
    [[nodiscard]] const std::shared_ptr<tls_tunnel>& tunnel() const noexcept { return tunnel_; }

    /// Makes the connection end as if the server had ended it, after what has arrived was read.
    void shut() noexcept { socket_.shut(); }

    /// From now on nothing is called any more, and unanswered requests are dropped.
    void forget();

    /// From now on, requests that end without an answer complete with `closing`.
    void close() noexcept { closing_ = true; }

    /// After work(): whether a part of a request has not been written yet.
    [[nodiscard]] bool unsent() const noexcept { return unsent_; }

    /// After work(): when to call it again at the latest.
    [[nodiscard]] std::chrono::milliseconds patience() const noexcept { return patience_; }

    /// Hands out the socket, with the connection still up.
    [[nodiscard]] std::unique_ptr<descriptor_watch> take_socket() { return socket_.take(); }

private:
    void read_frames();
    [[nodiscard]] bool drive();
    void watch(int socket);

    // zookeeper_handle::observer
    void on_state(zookeeper_handle::state now) noexcept override;
    void on_watch(watch_event what, const char* path) noexcept override;
    void on_reply(std::uint64_t id, reply answer) noexcept override;

    listener* listener_;
    const std::shared_ptr<tls_tunnel> tunnel_;
    const bool continues_;  ///< a session that there was before
    socket_watch socket_;
    std::optional<frame_gate> gate_;  ///< from the request for the session on
    requests_in_flight in_flight_;
    watch_registry watches_;
    std::chrono::milliseconds patience_{};
    bool connected_ = false;
    bool over_ = false;
    bool unsent_ = false;
    bool closing_ = false;
    bool forgotten_ = false;
    std::unique_ptr<zookeeper_handle> handle_;  // last: its destructor completes requests
};

}  // namespace latchkey::inline v0

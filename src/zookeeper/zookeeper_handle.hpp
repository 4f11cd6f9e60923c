#pragma once

#include "session/request.hpp"
#include "session/session.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

// The C client's own name, so that its header stays in one file.
struct _zhandle;  // NOLINT(bugprone-reserved-identifier): not ours to choose

namespace latchkey::inline v0 {

/// What a client presents to continue a session: its id and its password.
struct session_key {
    std::int64_t id = 0;  ///< 0: a new session
    std::array<char, 16> password{};
};

/// One handle of the ZooKeeper C client, for one connection to one server. It is destroyed with its
/// connection, and another handle continues the session. So the C client never reconnects, never
/// chooses a server, never replays watches and never mixes up the answers of two connections.
///
/// Contexts are numbers, answers are values. Closing never blocks and sends nothing to the servers.
/// All calls are made on one thread. The observer is called only inside next(), process() and the
/// destructor, and must not destroy the handle there.
class zookeeper_handle {
public:
    enum class state : std::uint8_t {
        disconnected,  ///< not begun, or over
        connecting,
        connected,
        expired,
        auth_failed
    };

    class observer {
    public:
        observer() = default;
        observer(const observer&) = delete;
        observer& operator=(const observer&) = delete;
        virtual ~observer() = default;

        /// Not every transition is reported: see current().
        virtual void on_state(state now) noexcept = 0;
        virtual void on_watch(watch_event what, const char* path) noexcept = 0;
        /// Called once for each number that was given to send(), by the destructor at the latest.
        virtual void on_reply(std::uint64_t id, reply answer) noexcept = 0;
    };

    /// What to wait for before process() or, at the end of `patience`, next().
    struct interest {
        int socket = -1;  ///< -1: the connection or the attempt is over, see last_failure()
        bool write = false;
        std::chrono::milliseconds patience{};
    };

    struct opening {
        std::string server;  ///< `address:port`, numeric; IPv6 without brackets
        std::chrono::milliseconds timeout{};
        session_key session;
        std::vector<session_options::identity> identities;
    };

    /// Throws std::system_error if the C client refuses.
    zookeeper_handle(const opening& how, observer& o);
    zookeeper_handle(const zookeeper_handle&) = delete;
    zookeeper_handle& operator=(const zookeeper_handle&) = delete;

    /// Drops the connection; the session lives on at the servers.
    ~zookeeper_handle();

    [[nodiscard]] state current() const noexcept;
    /// Whether it has asked for a session, and has no answer yet.
    [[nodiscard]] bool asked_for_session() const noexcept;
    /// After it was connected.
    [[nodiscard]] session_key session() const noexcept;
    /// The timeout that was asked for; after it was connected, the one that was granted.
    [[nodiscard]] std::chrono::milliseconds timeout() const noexcept;

    /// Connects, pings and checks timeouts. Also needed after send(), once for any number of
    /// requests. Do not call it again after a failure or the end of the connection: the C client
    /// would open another one.
    interest next() noexcept;
    /// If asked, reads at most one frame, and writes what can be written. The C client believes
    /// each length in the frame: see frame_gate. Returns false if it has not read a whole frame.
    bool process(bool read, bool write) noexcept;

    /// `r` must be acceptable(). If the result is not `ok`, nothing was sent and no reply comes.
    [[nodiscard]] result_code send(std::uint64_t id, const request& r, bool watch);

    /// Why the connection or the attempt failed: an errno value.
    [[nodiscard]] int last_failure() const noexcept { return last_failure_; }

private:
    struct multi_buffers;
    struct trampolines;

    [[nodiscard]] int send_by_kind(std::uint64_t id, const request& r, bool watch);
    [[nodiscard]] int send_multi(std::uint64_t id, const request& r);

    _zhandle* handle_ = nullptr;
    observer* observer_;
    std::deque<std::unique_ptr<multi_buffers>> multis_;  ///< usually answered in this order
    int last_failure_ = 0;
    int socket_ = -1;  ///< the C client's socket, as next() saw it
};

}  // namespace latchkey::inline v0

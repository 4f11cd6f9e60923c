#pragma once

#include "request.hpp"
#include "session.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// The C client's own name, so that its header stays in one file.
struct _zhandle;  // NOLINT(bugprone-reserved-identifier): not ours to choose

namespace latchkey {

/// One handle of the ZooKeeper C client, without its surprises at the interface: contexts are
/// numbers, answers are values, closing never blocks and never tells the servers.
///
/// Everything on one thread. The observer is called only inside next(), process() and the
/// destructor; it must not destroy the handle there.
class zookeeper_handle {
public:
    enum class state : std::uint8_t {
        disconnected,  ///< between two attempts
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

        /// Not every transition is told, see current().
        virtual void on_state(state now) noexcept = 0;
        virtual void on_watch(watch_event what, const char* path) noexcept = 0;
        /// Once for each number handed to send(), the destructor at the latest.
        virtual void on_reply(std::uint64_t id, reply answer) noexcept = 0;
    };

    /// What to wait for before process(), or, at the end of `patience`, next().
    struct interest {
        bool failed = false;  ///< the connection or the attempt, see last_failure()
        int socket = -1;      ///< -1: the C client pauses; call again
        bool write = false;
        std::chrono::milliseconds patience{};
    };

    /// `servers` as server_list::connect_string() writes it. Throws std::system_error when the C
    /// client refuses it.
    zookeeper_handle(const std::string& servers,
                     std::chrono::milliseconds timeout,
                     const std::vector<session_options::identity>& identities,
                     observer& o);
    zookeeper_handle(const zookeeper_handle&) = delete;
    zookeeper_handle& operator=(const zookeeper_handle&) = delete;

    /// Drops the connection; the session lives on at the servers.
    ~zookeeper_handle();

    [[nodiscard]] state current() const noexcept;
    [[nodiscard]] std::int64_t session_id() const noexcept;
    /// As asked for; after the first connect, as negotiated.
    [[nodiscard]] std::chrono::milliseconds timeout() const noexcept;
    /// The server of the present attempt or connection, as server_list::described() takes it.
    [[nodiscard]] std::string server() const;

    /// Goes on with these servers. Only while there is no connection.
    void set_servers(const std::string& servers) noexcept;

    /// Connects, pings, finds timeouts. Also needed after send(), once for any number of them.
    interest next() noexcept;
    /// Reads at most one frame, and writes what can be written. False when there was nothing to
    /// read or the connection failed.
    bool process(bool write) noexcept;

    /// Makes the present connection or attempt fail, with its requests, if there is one.
    void fail() noexcept;

    /// `r` must be acceptable(). Anything but `ok` means that nothing was sent and no reply comes.
    [[nodiscard]] result_code send(std::uint64_t id, const request& r, bool watch);

    /// Why the last connection or attempt failed (an errno value), and the server of it.
    [[nodiscard]] int last_failure() const noexcept { return last_failure_; }

    [[nodiscard]] const std::string& failed_server() const noexcept { return failed_server_; }

private:
    struct multi_buffers;
    struct trampolines;

    [[nodiscard]] int send_by_kind(std::uint64_t id, const request& r, bool watch);
    [[nodiscard]] int send_multi(std::uint64_t id, const request& r);

    _zhandle* handle_ = nullptr;
    observer* observer_;
    std::vector<std::unique_ptr<multi_buffers>> multis_;
    int last_failure_ = 0;
    std::string failed_server_;
    int socket_ = -1;  ///< the C client's, as next() saw it
};

}  // namespace latchkey

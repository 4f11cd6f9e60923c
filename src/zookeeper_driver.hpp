#pragma once

#include "asio_loop.hpp"
#include "name_resolution.hpp"
#include "request_ledger.hpp"
#include "server_list.hpp"
#include "session.hpp"
#include "socket_watch.hpp"
#include "watch_registry.hpp"
#include "zookeeper_handle.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace latchkey {

/// What a zookeeper_session is: drives handles of the C client with the loop's sockets and timers,
/// keeps account of requests and watches, and decides when to go on to the next server.
///
/// It outlives its session when that is destroyed inside a callback, as long as the C client's
/// frames are on the stack.
class zookeeper_driver final : public std::enable_shared_from_this<zookeeper_driver>,
                               zookeeper_handle::observer {
public:
    zookeeper_driver(const std::shared_ptr<asio_loop>& l,
                     name_resolver resolver,
                     session_options options,
                     session::event_handler events);

    void open();
    void submit(request r, const std::shared_ptr<session::watcher>* w, session::completion done);
    void reconnect();
    void close(std::function<void()> done);
    /// The session is gone: no callback from now on.
    void abandon();

private:
    struct waiting {
        request what;
        bool watched;
        std::weak_ptr<session::watcher> watcher;
        session::completion done;
    };

    // zookeeper_handle::observer
    void on_state(zookeeper_handle::state now) noexcept override;
    void on_watch(watch_event what, const char* path) noexcept override;
    void on_reply(std::uint64_t id, reply answer) noexcept override;

    void resolve();
    void resolved(const name_resolution& result);
    void start(std::vector<server_address> addresses);
    void servers_moved(const std::vector<server_address>& addresses);
    void retry_later();

    /// Every entry from the loop goes through here: does `work`, then works the C client until
    /// there is only waiting left, then destroys what could not be destroyed meanwhile.
    template <class Work>
    void take_turn(Work work) {
        const auto self = shared_from_this();
        inside_ = true;
        work();
        end_turn();
    }

    void end_turn();
    void pump(bool readable, bool writable);
    void read_frames(bool readable, bool writable);
    void settle();
    [[nodiscard]] bool ready_to_connect();
    [[nodiscard]] bool began_attempt(int socket);
    void attempt_failed();
    void wake_at(loop::clock::time_point at);
    void woken();
    void finish_closing(bool unsent);
    void let_go();

    void send(const request& r,
              bool watched,
              std::weak_ptr<session::watcher> w,
              session::completion done);
    void send_waiting();
    void fail_waiting(result_code code);
    void reject(session::completion done, result_code code);
    void schedule_flush();
    void tell(const session_event& e);
    void tell_trouble(std::string detail);

    [[nodiscard]] bool working() const noexcept { return !abandoned_ && !over_ && !closed_; }

    asio_loop* loop_;
    std::weak_ptr<asio_loop> weak_loop_;
    const std::uint64_t born_;
    const name_resolver resolver_;
    const session_options options_;
    session::event_handler events_;

    server_list servers_;
    std::unique_ptr<zookeeper_handle> handle_;
    socket_watch socket_;
    request_ledger in_flight_;
    std::deque<waiting> waiting_;
    watch_registry watches_;

    timer wake_;
    loop::clock::time_point wake_at_{};
    loop::clock::time_point answered_at_{};  ///< something, on this connection
    loop::clock::time_point pause_until_{};
    loop::clock::time_point attempt_ends_{};
    std::chrono::milliseconds attempt_limit_{};
    std::string server_;       ///< of the present attempt or connection
    std::string left_server_;  ///< of the connection before, until another one was tried
    std::size_t attempts_ = 0;
    unsigned failed_rounds_ = 0;

    bool resolving_ = false;
    bool attempting_ = false;
    bool attempt_timed_out_ = false;
    bool connected_ = false;       ///< as told
    bool ever_connected_ = false;  ///< this handle has a session
    bool stale_ = false;           ///< the C client mixes up two connections, see settle()
    bool inside_ = false;
    bool only_watches_ = false;  ///< have come with the present frame
    bool flush_posted_ = false;
    bool over_ = false;
    bool closing_ = false;
    bool closed_ = false;
    bool abandoned_ = false;
    std::function<void()> closed_handler_;
    loop::clock::time_point closing_ends_{};
};

}  // namespace latchkey

#pragma once

#include "loop/io_loop.hpp"
#include "session/session.hpp"
#include "zookeeper/connect_pace.hpp"
#include "zookeeper/server_addresses.hpp"
#include "zookeeper/server_choice.hpp"
#include "zookeeper/zookeeper_connection.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

namespace latchkey::inline v0 {

/// The implementation of zookeeper_session: one session, which goes from connection to connection.
/// It chooses the servers, paces the attempts, keeps what cannot be sent yet, and ends the session.
///
/// If the session is destroyed inside a callback, the driver outlives it, as long as frames of the
/// C client are on the stack.
class zookeeper_driver final : public std::enable_shared_from_this<zookeeper_driver>,
                               zookeeper_connection::listener {
public:
    zookeeper_driver(const std::shared_ptr<io_loop>& l,
                     name_resolver resolver,
                     session_options options,
                     session::event_handler events,
                     std::shared_ptr<tls_identity> tls);

    void open();
    void submit(request r, const std::shared_ptr<session::watcher>* w, session::completion done);
    void reconnect();
    void close(std::function<void()> done);
    /// The session object is gone: no callback from now on.
    void abandon();

private:
    struct waiting {
        request what;
        bool watched;
        std::weak_ptr<session::watcher> watcher;
        session::completion done;
    };

    // zookeeper_connection::listener
    void connected() noexcept override;
    void disconnected(zookeeper_handle::state why) noexcept override;

    void resolved(const server_addresses::answer& got);

    /// Every entry from the loop goes through here. Works the connection, or makes one, until it
    /// can only wait. Then destroys what could not be destroyed meanwhile.
    void take_turn(bool readable = false, bool writable = false);
    /// Returns false if it can only wait: for names, or for the end of a pause.
    [[nodiscard]] bool begin_attempt();
    [[nodiscard]] bool work(bool readable, bool writable);
    void connection_ended(const std::string& why);
    void attempt_failed(const std::string& why);
    void wake_at(loop::clock::time_point at);
    void finish_closing();
    void let_go();

    void send(waiting w);
    void send_waiting();
    void fail_waiting(result_code code);
    void reject(session::completion done, result_code code);
    void schedule_turn();
    void notify(const session_event& e);
    void tell_trouble(std::string detail);

    [[nodiscard]] bool working() const noexcept { return !abandoned_ && !over_ && !closed_; }

    io_loop* loop_;
    const std::uint64_t born_;
    const session_options options_;
    session::event_handler events_;
    const std::shared_ptr<tls_identity> tls_;  ///< null: clear text

    server_addresses servers_;
    server_choice choice_;
    server_address server_;  ///< of the present attempt or connection
    connect_pace pace_;
    session_key session_;
    std::chrono::milliseconds timeout_;  ///< asked for, then as granted
    std::unique_ptr<zookeeper_connection> connection_;
    std::deque<waiting> waiting_;

    timer wake_;
    loop::clock::time_point wake_at_{};

    bool connected_ = false;  ///< as reported
    bool inside_ = false;
    bool turn_posted_ = false;
    bool over_ = false;
    bool closing_ = false;
    bool closed_ = false;
    bool abandoned_ = false;
    std::function<void()> closed_handler_;
    loop::clock::time_point closing_ends_{};
};

}  // namespace latchkey::inline v0

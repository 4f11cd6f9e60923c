#pragma once

#include <latchkey/client.hpp>

#include "awaited.hpp"
#include "backoff.hpp"
#include "client_status.hpp"
#include "connect_string.hpp"
#include "environment.hpp"
#include "fork_guard.hpp"
#include "guaranteed_deletes.hpp"
#include "heartbeat.hpp"
#include "pulse.hpp"
#include "session_user.hpp"
#include "state_listeners.hpp"
#include "validity.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace latchkey {

/// What a client is inside: one session at a time on the loop, and what must outlive it: listeners,
/// timers, validity, guaranteed deletes. Shared by the client, its recipes and holds; inert once
/// closed.
class client_core : public std::enable_shared_from_this<client_core> {
public:
    /// Throws errc::invalid_argument for options that cannot work.
    [[nodiscard]] static std::shared_ptr<client_core> start(environment env,
                                                            connect_target target,
                                                            client_options options);

    [[nodiscard]] static const std::shared_ptr<client_core>& of(const client& c) noexcept {
        return c.core_;
    }

    [[nodiscard]] static client handle(std::shared_ptr<client_core> core) {
        return client(std::move(core));
    }

    // ---- any thread ----

    [[nodiscard]] connection_state state() const noexcept { return status_->state(); }

    [[nodiscard]] std::int64_t session_id() const noexcept {
        return session_id_.load(std::memory_order_acquire);
    }

    [[nodiscard]] std::chrono::milliseconds session_timeout() const noexcept;

    [[nodiscard]] std::string trouble() const { return status_->trouble(); }

    bool wait_connected(std::chrono::nanoseconds limit, const std::stop_token& stop);
    void close() noexcept;

    /// Closes as soon as what was handed to the loop before has run, and drains nothing: nobody is
    /// left to delete from.
    void close_without_servers();

    [[nodiscard]] state_listeners& listeners() noexcept { return listeners_; }

    [[nodiscard]] const client_options& options() const noexcept { return options_; }

    [[nodiscard]] latchkey::loop& loop() noexcept { return *env_.loop; }

    /// What every path is below, on the servers; empty if there is none.
    [[nodiscard]] const std::string& chroot() const noexcept { return target_.chroot; }

    /// True in a child of the process that made this object: nothing of it may be touched.
    [[nodiscard]] bool forked() const noexcept { return born_ != fork_generation(); }

    /// Throws errc::forked, or errc::would_deadlock where may_block() is false.
    void check_may_block() const;

    /// False on the loop, in callbacks, and when nobody else runs the loop.
    [[nodiscard]] bool may_block() const noexcept;

    /// For the znodes that are created: the client's option, or its default.
    [[nodiscard]] const acl& access() const noexcept { return options_.access; }

    /// Runs `t` on the loop.
    void post(loop::task t) { env_.loop->post(std::move(t)); }

    /// Runs code of the user on the callback thread, after what was handed over before.
    void call(std::function<void()> user_code);

    void log(std::string line);

    // ---- on the loop ----

    [[nodiscard]] bool connected() const noexcept { return connected_; }

    /// Numbers the sessions; 0 before the first. What was obtained in another generation is gone.
    [[nodiscard]] std::uint64_t generation() const noexcept { return generation_; }

    /// Numbers the connections of all sessions. A watch that is armed on another one proves
    /// nothing.
    [[nodiscard]] std::uint64_t connection() const noexcept { return connection_; }

    /// Whether a grant may be published: connected, and validity is proven for long enough that a
    /// heartbeat can prolong it.
    [[nodiscard]] bool believable() const noexcept;

    [[nodiscard]] const std::shared_ptr<validity>& session_validity() const noexcept {
        return validity_;
    }

    [[nodiscard]] latchkey::heartbeat& heartbeat() noexcept { return heartbeat_; }

    [[nodiscard]] guaranteed_deletes& deletes() noexcept { return deletes_; }

    /// Why nothing can be done any more; no failure while the client is open.
    [[nodiscard]] const failure& closed_why() const noexcept { return closed_why_; }

    /// Sends on the present session; paths are the client's, below its chroot. Without a session:
    /// `connection_loss`.
    void submit(request r, session::completion done);
    void submit(request r, const std::shared_ptr<session::watcher>& w, session::completion done);

    /// Creates every level of `path`, the chroot's included, as containers; `answered` hears of
    /// each. NODEEXISTS is usual.
    void create_directories(const std::string& path,
                            const acl& access,
                            const session::completion& answered);

    /// `user` hears of the session from now on; it is kept alive until it is detached.
    void attach(std::shared_ptr<session_user> user);
    void detach(const session_user* user);

private:
    client_core(environment env, connect_target target, client_options options);

    void open_session();
    void on_event(std::uint64_t opened, const session_event& e);
    void on_connected(const session_event& e);
    void on_suspended();
    void end_session(loss why);
    void retire_session(std::function<void()> after = {});
    void on_auth_failed(const std::string& detail);
    void on_znode_missing(const std::string& path);
    void give_up(failure why);
    void on_deadline_passed();
    void make_heard();
    void on_answer(loop::clock::time_point sent, bool to_write, result_code code);
    void on_proof(loop::clock::time_point sent);
    void set_state(connection_state s);
    void set_trouble(std::string text);

    [[nodiscard]] std::vector<std::shared_ptr<session_user>> users() const { return users_; }

    void begin_close(failure why, bool drain);
    void finish_close();
    void drained_if_closing();

    const environment env_;
    const connect_target target_;
    const client_options options_;
    const std::uint64_t born_ = fork_generation();
    const environment::executor callbacks_;

    // Any thread.
    state_listeners listeners_;
    std::atomic<std::int64_t> session_id_{0};
    std::atomic<std::int64_t> timeout_ms_{0};
    const std::shared_ptr<client_status> status_;  ///< shared: who waits may outlive the core

    // On the loop only.
    std::unique_ptr<session> session_;
    std::shared_ptr<validity> validity_;
    latchkey::heartbeat heartbeat_;
    guaranteed_deletes deletes_;
    pulse pulse_;
    std::vector<std::shared_ptr<session_user>> users_;
    timer reopen_;
    timer close_limit_;
    backoff backoff_{std::chrono::milliseconds(20), std::chrono::seconds(5)};
    bool connected_ = false;
    bool closing_ = false;
    std::uint64_t opened_ = 0;
    std::uint64_t generation_ = 0;
    std::uint64_t connection_ = 0;
    failure closed_why_;
};

/// Throws errc::invalid_argument or errc::unsupported for options that cannot work; the message
/// names the value.
void check_options(const client_options& o);

/// Gives up a reference without destroying what it refers to: the only safe thing to do with an
/// object of the parent process in a forked child, whose loop has no thread.
template <class T>
void leak(std::shared_ptr<T>& p) {
    new std::shared_ptr<T>(std::move(p));  // NOLINT: on purpose
}

}  // namespace latchkey

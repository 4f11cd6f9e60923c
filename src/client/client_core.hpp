#pragma once

#include <latchkey/client.hpp>
#include <latchkey/export.hpp>

#include "client/client_reports.hpp"
#include "client/guaranteed_deletes.hpp"
#include "client/session_keeper.hpp"
#include "client/session_listeners.hpp"
#include "client/session_owner.hpp"
#include "client/user_callbacks.hpp"
#include "direct/direct_handoffs.hpp"
#include "directories/directory_lists.hpp"
#include "loop/fork_guard.hpp"
#include "loop/paced_retry.hpp"
#include "loop/send_window.hpp"
#include "loop/task.hpp"
#include "session/connect_string.hpp"
#include "session/runtime.hpp"
#include "text/path.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

namespace latchkey::inline v0 {

/// The inside of a client, as its recipes see it: requests, posts, listeners, deletes and lists. A
/// session_keeper keeps the session, and client_reports tell the user of it. Shared by the client,
/// its recipes and its holds. Inert once it is closed.
class client_core : public std::enable_shared_from_this<client_core>, private session_owner {
public:
    /// Throws errc::invalid_argument for options that cannot work.
    [[nodiscard]] LATCHKEY_EXPORT_FOR_TESTING static std::shared_ptr<client_core> start(
        runtime env, connect_target target, client_options options);

    /// Throws errc::closed for a client that was moved from.
    [[nodiscard]] static std::shared_ptr<client_core> of(const client& c);

    [[nodiscard]] static client handle(std::shared_ptr<client_core> core) {
        return client(std::move(core));
    }

    // ---- any thread ----

    [[nodiscard]] connection_state state() const noexcept { return status().state(); }

    [[nodiscard]] std::int64_t session_id() const noexcept { return status().session_id(); }

    [[nodiscard]] std::chrono::milliseconds session_timeout() const noexcept {
        return status().session_timeout();
    }

    /// How long a call waits for servers at most that has no limit of its own: the session timeout,
    /// as it was granted or is going to be asked for.
    [[nodiscard]] std::chrono::milliseconds patience() const noexcept {
        return session_timeout().count() > 0 ? session_timeout() : options_.session_timeout;
    }

    [[nodiscard]] std::string trouble() const { return status().trouble(); }

    bool wait_connected(std::chrono::nanoseconds limit, const std::stop_token& stop);
    void close() noexcept;

    /// Closes as soon as everything that was posted before has run. Deletes nothing, because there
    /// are no servers any more.
    void close_without_servers();

    [[nodiscard]] state_listeners& listeners() noexcept { return reports_.listeners(); }

    [[nodiscard]] const client_options& options() const noexcept { return options_; }

    [[nodiscard]] latchkey::loop& loop() noexcept { return *env_.loop; }

    /// The path, on the servers, below which every path of this client is; empty if there is none.
    [[nodiscard]] const std::string& chroot() const noexcept { return keeper_.chroot(); }

    /// True in a forked child of the process that made this object: nothing of it may be touched.
    [[nodiscard]] bool forked() const noexcept { return born_ != fork_generation(); }

    /// Throws errc::forked.
    void check_not_forked() const;

    /// Throws errc::forked, or errc::would_deadlock if may_block() is false.
    void check_may_block() const;

    /// False on the loop, in callbacks, and if no other thread runs the loop.
    [[nodiscard]] bool may_block() const noexcept;

    /// The access control list for znodes that are created: the client's option, or its default.
    [[nodiscard]] const std::shared_ptr<const acl>& access() const noexcept { return access_; }

    /// How many participants make a queue long.
    [[nodiscard]] std::size_t long_queue() const noexcept { return env_.long_queue; }

    /// Runs `t` on the loop.
    void post(loop::task t) { env_.loop->post(std::move(t)); }

    /// Runs all code of the user's.
    [[nodiscard]] user_callbacks& callbacks() noexcept { return *callbacks_; }

    void call(move_only_function<void()> user_code) { callbacks_->call(std::move(user_code)); }

    void log(log_line line) { reports_.log(std::move(line)); }

    /// Counts what happens, and tells the user's observer.
    [[nodiscard]] latchkey::telemetry& telemetry() noexcept { return reports_.telemetry(); }

    [[nodiscard]] client_stats stats() const;

    /// Whether one more lock may be kept after its release; then end_retention() follows.
    [[nodiscard]] bool begin_retention() noexcept {
        const bool may = retained_.fetch_add(1) < options_.max_retained;
        retained_.fetch_sub(may ? 0 : 1);
        return may;
    }

    void end_retention() noexcept { retained_.fetch_sub(1); }

    /// Another place to run the user's code than the callback thread: one call at a time, which may
    /// block.
    [[nodiscard]] runtime::executor make_executor(const char* thread) const {
        return env_.callbacks(thread);
    }

    // ---- on the loop ----

    [[nodiscard]] bool connected() const noexcept { return keeper_.connected(); }

    /// Counts the sessions; 0 before the first. What was obtained in another generation is
    /// worthless.
    [[nodiscard]] std::uint64_t generation() const noexcept { return keeper_.generation(); }

    /// Counts the connections of all sessions. A watch that was set on another connection proves
    /// nothing.
    [[nodiscard]] std::uint64_t connection() const noexcept { return keeper_.connection(); }

    /// Whether a grant may be published: connected, and the deadline is far enough ahead for a
    /// heartbeat to prolong it.
    [[nodiscard]] bool may_grant() const noexcept { return keeper_.may_grant(); }

    [[nodiscard]] const std::shared_ptr<validity>& session_validity() const noexcept {
        return keeper_.session_validity();
    }

    [[nodiscard]] latchkey::heartbeat& heartbeat() noexcept { return keeper_.heartbeat(); }

    /// Null without client_options::direct.
    [[nodiscard]] direct_handoffs* direct() const noexcept { return direct_.get(); }

    /// As session_keeper's.
    void read_behind_a_write() noexcept { keeper_.read_behind_a_write(); }

    [[nodiscard]] guaranteed_deletes& deletes() noexcept { return deletes_; }

    /// Why nothing can be done any more; no failure while the client is open.
    [[nodiscard]] const failure& closed_why() const noexcept { return closed_why_; }

    /// Sends on the present session; paths are the client's, below its chroot. Without a session:
    /// `connection_loss`.
    void submit(request r, const std::shared_ptr<session::watcher>& w, session::completion done);

    void submit(request r, session::completion done) {
        submit(std::move(r), nullptr, std::move(done));
    }

    /// Sends at once, as submit() does; a task awaits the answer.
    [[nodiscard]] oneshot<reply> send(request r);

    /// For a task: until there is a connection; at once while there is one.
    [[nodiscard]] auto connection_made() {
        return until_called_back_unless(
            [this] { return connected(); },
            [this](resumption resume) { waiting_for_connection_.add(std::move(resume)); });
    }

    /// For a task, before it repeats a step: pauses, unless the connection is gone; then the next
    /// one is waited for instead.
    [[nodiscard]] auto pause(paced_retry& again) {
        return until_called_back_unless(
            [this] { return !connected(); },
            [&again](resumption resume) { again.later(std::move(resume)); });
    }

    /// `resume` is called with the next connection, unless something else has called it before.
    void at_next_connection(resumption resume) { waiting_for_connection_.add(std::move(resume)); }

    /// For a task: until there is another connection than now.
    [[nodiscard]] auto next_connection() {
        return until_called_back(
            [this](resumption resume) { at_next_connection(std::move(resume)); });
    }

    /// For a task that sends what thousands may send together: what it sends until it waits again
    /// counts in the window.
    [[nodiscard]] auto room_to_send() {
        return until_called_back([this](resumption resume) { window_.enter(std::move(resume)); });
    }

    /// As room_to_send(), for what begins, and is no task yet: calls `begin`.
    template <class Begin>
    void when_there_is_room(Begin begin) {
        window_.begin(std::move(begin));
    }

    /// Lists that are shared by those who ask for them.
    [[nodiscard]] directory_lists& lists() noexcept { return lists_; }

    /// What servers have refused, and answered wrongly.
    [[nodiscard]] const refusal_notes& refusals() const noexcept { return reports_.refusals(); }

    /// Creates a directory of a recipe, and the levels above it.
    [[nodiscard]] directory_creation create_directories(const std::string& path,
                                                        const acl& access) {
        return keeper_.create_directories(path, access, directory_maker::last_level::access);
    }

    /// Creates the levels above `path`, which may be shared with others.
    [[nodiscard]] directory_creation create_parents(const std::string& path, const acl& access) {
        const std::string above(parent_of(path));
        return keeper_.create_directories(above, access, directory_maker::last_level::parent);
    }

    /// As session_keeper's.
    void look_at_access(const std::string& path, const acl& access) {
        keeper_.look_at_access(path, access);
    }

    /// Notifies `user` of the session from now on. Keeps it alive until it is detached.
    void attach(std::shared_ptr<session_listener> user) { users_.attach(std::move(user)); }

    void detach(session_listener* user) {
        heartbeat().withdraw(user);
        users_.detach(user);
    }

    /// Notifies everybody that a znode is wanted that may have been left. Returns its creates.
    [[nodiscard]] std::shared_ptr<znode_creates> want_again(const std::string& path);

private:
    client_core(runtime env, connect_target target, client_options options);

    // From the keeper.
    void session_connected() override;
    void session_suspended() override;
    void session_retires() override;
    void session_ended(loss_reason why) override;
    void znode_missing(const std::string& path) override;

    void validity_passed() override { users_.notify(&session_listener::validity_passed); }

    void client_closed(const failure& why) override { begin_close(why, false); }

    [[nodiscard]] std::shared_ptr<const void> keep_alive() override { return shared_from_this(); }

    [[nodiscard]] client_status& status() const noexcept { return *reports_.status(); }

    void begin_close(failure why, bool drain);
    void finish_close();
    void drained_if_closing();

    const runtime env_;
    const std::shared_ptr<user_callbacks> callbacks_;
    client_reports reports_;
    const client_options options_;  ///< without the functions, which others have
    const std::shared_ptr<const acl> access_;
    const std::uint64_t born_ = fork_generation();

    std::atomic<std::size_t> retained_{0};

    // On the loop only.
    session_keeper keeper_;
    guaranteed_deletes deletes_;
    directory_lists lists_;
    send_window window_;
    const std::unique_ptr<direct_handoffs> direct_;
    session_listeners users_;
    waiting_tasks waiting_for_connection_;
    timer close_limit_;
    bool closing_ = false;
    failure closed_why_;
};

}  // namespace latchkey::inline v0

#pragma once

#include "client/client_reports.hpp"
#include "client/session_owner.hpp"
#include "directories/directory_maker.hpp"
#include "loop/backoff.hpp"
#include "loop/loop.hpp"
#include "session/connect_string.hpp"
#include "session/failure.hpp"
#include "session/runtime.hpp"
#include "validity/heartbeat.hpp"
#include "validity/validity.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace latchkey::inline v0 {

/// Keeps a client's session: opens it, and another one after its end; sends on it; and derives from
/// every answer how long it is valid. Part of its owner, which it notifies. On the loop only,
/// unless stated otherwise.
class session_keeper {
public:
    /// `options` belong to the owner.
    session_keeper(const runtime& env,
                   connect_target target,
                   const client_options& options,
                   client_reports& reports,
                   session_owner& owner);

    void open();

    /// Opens no other session from now on.
    void open_no_more();

    /// Ends the session at the servers, without a notice to the owner. `ended` runs when everything
    /// in flight has completed.
    void close(std::function<void()> ended);

    /// Sends on the present session; paths are the client's, below its chroot. Without a session:
    /// `connection_loss`.
    void submit(request r, const std::shared_ptr<session::watcher>& w, session::completion done);

    void submit(request r, session::completion done) {
        submit(std::move(r), nullptr, std::move(done));
    }

    /// What is read from now on is at least as new as everything that was committed until now, by
    /// whichever client: the next read is sent behind a write that changes nothing.
    void read_behind_a_write() noexcept { write_before_read_ = true; }

    /// Creates every level of `path`, the chroot's included, as containers. Without a session, does
    /// nothing. See directory_maker.
    [[nodiscard]] directory_creation create_directories(const std::string& path,
                                                        const acl& access,
                                                        directory_maker::last_level last);

    /// Asks who has access to a directory of a recipe, and reports it if it is open.
    void look_at_access(const std::string& path, const acl& access) {
        directories_.look_at(target_.chroot + path, access);
    }

    /// Whether there is a session object, connected or not.
    [[nodiscard]] bool opened() const noexcept { return session_ != nullptr; }

    [[nodiscard]] bool connected() const noexcept { return connected_; }

    /// Counts the sessions; 0 before the first.
    [[nodiscard]] std::uint64_t generation() const noexcept { return generation_; }

    /// Counts the connections of all sessions.
    [[nodiscard]] std::uint64_t connection() const noexcept { return connection_; }

    /// Whether a grant may be published: connected, and the deadline is far enough ahead for a
    /// heartbeat to prolong it.
    [[nodiscard]] bool may_grant() const noexcept {
        return connected_ && validity_ &&
               loop_->now() + validity_->timeout() / 8 < validity_->deadline();
    }

    [[nodiscard]] const std::shared_ptr<validity>& session_validity() const noexcept {
        return validity_;
    }

    [[nodiscard]] latchkey::heartbeat& heartbeat() noexcept { return heartbeat_; }

    /// Any thread. The path, on the servers, below which every path of this client is; empty if
    /// there is none.
    [[nodiscard]] const std::string& chroot() const noexcept { return target_.chroot; }

private:
    /// What is known of a request in flight.
    struct sent_request {
        request::kind what;
        boottime_clock::time_point at;
        std::uint64_t generation;
        validity::submission known;
        bool write;
        std::string path = {};  ///< the client's; of the first operation
    };

    [[nodiscard]] heartbeat::effects heartbeat_effects();
    [[nodiscard]] directory_maker::effects directory_effects();
    void on_event(std::uint64_t opened, const session_event& e);
    void on_connected(const session_event& e);
    void send_barrier();
    void on_suspended();
    void on_expired();
    void on_deadline_passed();
    void end(loss_reason why);
    void retire(std::function<void()> after = [] {});
    void give_up(failure why);
    [[nodiscard]] sent_request sending(request::kind what);
    void on_answer(const sent_request& sent, result_code code);
    void note_answer(const sent_request& sent, result_code code);
    void set_state(connection_state s);

    void guard(const session_claim& present) {
        if (guard_) {
            guard_->guard(present);
        }
    }

    const std::shared_ptr<loop> loop_;
    const std::shared_ptr<session_factory> sessions_;
    const connect_target target_;
    const client_options& options_;
    client_reports& reports_;
    client_status& status_;
    session_owner& owner_;
    const std::unique_ptr<session_guard> guard_;  ///< null: there is none

    std::unique_ptr<session> session_;
    std::shared_ptr<validity> validity_;
    latchkey::heartbeat heartbeat_;
    directory_maker directories_;
    timer reopen_;
    backoff backoff_{std::chrono::milliseconds(20), std::chrono::seconds(5)};
    connection_state state_ = connection_state::connecting;
    bool connected_ = false;
    bool behind_ = false;  ///< what this connection shows may be older than what was seen
    bool write_before_read_ = false;
    bool last_ = false;  ///< no other session follows
    std::uint64_t opened_ = 0;
    std::uint64_t generation_ = 0;
    std::uint64_t connection_ = 0;
};

}  // namespace latchkey::inline v0

#include "client_core.hpp"

#include <string>
#include <utility>

// What a client makes of the events of its sessions.

namespace latchkey {

void client_core::open_session() {
    if (closing_) {
        return;
    }
    session_options o{
        .servers = target_.servers, .timeout = options_.session_timeout, .identities = {}};
    for (const credentials& c : options_.credentials) {
        o.identities.push_back({c.scheme, c.secret});
    }
    // The session is destroyed on the loop before the core goes, and calls nothing after that.
    session_ = env_.sessions->open(
        o, [this, opened = ++opened_](const session_event& e) { on_event(opened, e); });
}

void client_core::on_event(std::uint64_t opened, const session_event& e) {
    if (opened != opened_ || !session_) {
        return;
    }
    const auto keep = shared_from_this();
    switch (e.what) {
        case session_event::kind::connected:
            on_connected(e);
            break;
        case session_event::kind::suspended:
            on_suspended();
            break;
        case session_event::kind::silence_over:
            validity_->heard_again(env_.loop->now());
            make_heard();
            break;
        case session_event::kind::expired:
            retire_session();
            end_session(loss::session_expired);
            // With the session its deletes have ended: a client that only drained may be closed
            // now, and destroyed on any thread.
            if (!closing_) {
                reopen_.start(backoff_.next(env_.loop->random()), [this] { open_session(); });
            }
            break;
        case session_event::kind::auth_failed:
            on_auth_failed(e.detail);
            break;
        case session_event::kind::trouble:
            set_trouble(e.detail);
            break;
    }
}

void client_core::on_connected(const session_event& e) {
    const std::int64_t known = session_id();
    if (known != 0 && known != e.id) {
        // Some servers hand out another session without saying so (ClickHouse Keeper); the
        // ephemerals are gone.
        end_session(loss::session_replaced);
    }
    const bool fresh = session_id() == 0;
    if (fresh) {
        ++generation_;
        session_id_.store(e.id, std::memory_order_release);
        validity_ = std::make_shared<validity>(options_.tick);
        heartbeat_.session_begins(validity_);
        pulse_.start(e.timeout / 16);
    }
    if (!believable_at_all(e.timeout, options_.tick)) {
        const auto ms = [](std::chrono::milliseconds d) {
            return std::to_string(d.count()) + " ms";
        };
        give_up({errc::invalid_argument,
                 "the servers grant a session timeout of " + ms(e.timeout) +
                     ", in which nothing could be believed with the configured tick of " +
                     ms(options_.tick) + "; raise the servers' maxSessionTimeout"});
        return;
    }
    ++connection_;
    connected_ = true;
    validity_->negotiated(e.timeout);
    timeout_ms_.store(e.timeout.count(), std::memory_order_release);
    backoff_.reset();
    set_trouble({});
    set_state(fresh ? connection_state::connected : connection_state::reconnected);
    heartbeat_.connected();
    deletes_.connected();
    for (const auto& user : users()) {
        user->session_connected();
    }
    make_heard();
}

void client_core::on_suspended() {
    if (!std::exchange(connected_, false)) {
        return;
    }
    heartbeat_.suspended();
    deletes_.suspended();
    if (state() != connection_state::lost) {
        set_state(connection_state::suspended);
    }
    for (const auto& user : users()) {
        user->session_suspended();
    }
}

/// Everything that lived with the session is gone; the session object itself may have a successor
/// already.
void client_core::end_session(loss why) {
    connected_ = false;
    if (session_id_.exchange(0, std::memory_order_acq_rel) == 0) {
        return;
    }
    validity_->end();
    heartbeat_.session_ends();
    pulse_.stop();
    if (state() != connection_state::lost) {
        set_state(connection_state::lost);
    }
    for (const auto& user : users()) {
        user->session_ended(why);
    }
    deletes_.session_ended();
    drained_if_closing();
}

/// Ends the session object: what is in flight completes, then `after` runs, then it is destroyed,
/// not under its own feet.
void client_core::retire_session(std::function<void()> after) {
    ++opened_;
    if (!session_) {
        if (after) {
            after();
        }
        return;
    }
    const std::shared_ptr<session> retired(std::move(session_));
    retired->close([self = shared_from_this(), retired, after = std::move(after)] {
        if (after) {
            after();
        }
        self->post([retired] {});
    });
}

void client_core::on_auth_failed(const std::string& detail) {
    give_up({errc::authentication_failed,
             detail.empty() ? "the servers refused the credentials" : detail});
}

/// This client can never be used again.
void client_core::give_up(failure why) {
    set_trouble(why.detail);
    retire_session();
    end_session(loss::session_expired);
    begin_close(std::move(why), false);
}

void client_core::on_znode_missing(const std::string& path) {
    for (const auto& user : users()) {
        user->znode_missing(path);
    }
}

void client_core::on_deadline_passed() {
    set_state(connection_state::lost);
    for (const auto& user : users()) {
        user->validity_passed();
    }
}

/// After an interruption nothing is proven before something sent since is answered: idle clients
/// ask for that. Rare, and one read.
void client_core::make_heard() {
    if (connected_ && validity_->unheard()) {
        submit(request::exists("/"), [](const reply&) {});
    }
}

void client_core::on_answer(loop::clock::time_point sent, bool to_write, result_code code) {
    if (to_write && proves_quorum(code)) {
        on_proof(sent);
    } else if (validity_ && !outcome_unknown(code)) {
        validity_->heard(sent, env_.loop->now());
    }
}

void client_core::on_proof(loop::clock::time_point sent) {
    if (!validity_) {
        return;
    }
    if (heartbeat_.relied_upon() && env_.loop->now() >= validity_->deadline()) {
        // The deadline passed before this proof arrived: what was held then is lost, before the
        // deadline moves on.
        on_deadline_passed();
    }
    validity_->proven(sent, env_.loop->now());
    if (state() == connection_state::lost && connected_) {
        set_state(connection_state::reconnected);
    }
}

}  // namespace latchkey

#include "client/client_core.hpp"

#include <string>
#include <utility>

// How a client acts on the events of its sessions.

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
    // The session is destroyed on the loop before the core, and calls nothing after that.
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
        case session_event::kind::expired:
            retire_session();
            end_session(loss::session_expired);
            // The deletes end with their session. A client that only waited for them may be closed
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
        // Some servers (ClickHouse Keeper) hand out another session without a notice. The
        // ephemerals of the first one are gone.
        end_session(loss::session_replaced);
        if (!session_) {
            return;  // it only waited for its deletes, and is closed now
        }
    }
    const bool fresh = session_id() == 0;
    const auto assumptions = assumptions_of(options_);
    if (fresh) {
        ++generation_;
        session_id_.store(e.id, std::memory_order_release);
        validity_ = std::make_shared<validity>(assumptions);
        heartbeat_.session_begins(validity_);
    }
    if (!assumptions.suffice(e.timeout)) {
        const auto ms = [](std::chrono::milliseconds d) {
            return std::to_string(d.count()) + " ms";
        };
        give_up({errc::invalid_argument,
                 "the servers granted a session timeout of " + ms(e.timeout) +
                     ", which is too short for a tick of " + ms(options_.tick) +
                     " and a max_clock_drift of " + std::to_string(options_.max_clock_drift) +
                     ": no hold could ever be valid; raise the servers' maxSessionTimeout"});
        return;
    }
    ++connection_;
    connected_ = true;
    validity_->connected(e.begun, env_.loop->now(), e.timeout);
    timeout_ms_.store(e.timeout.count(), std::memory_order_release);
    callbacks_->set_limit(e.timeout / 10);
    backoff_.reset();
    set_trouble({});
    behind_ = false;
    if (!fresh) {
        send_barrier();
    } else {
        look_for_slow_callbacks();
    }
    set_state(fresh ? connection_state::connected : connection_state::reconnected);
    heartbeat_.connected();
    deletes_.connected();
    for (const auto& user : users()) {
        user->session_connected();
    }
    waiting_for_connection_.resume_all();
}

/// The first request of each connection but a session's first: a write that changes nothing. What
/// is answered behind it is at least as new as all that this client has seen, and shows each create
/// that it sent before, unless that has not arrived. A new session needs none: to open it is a
/// transaction.
void client_core::send_barrier() {
    request barrier = request::multi({request::check("/")});
    barrier.urgent = true;
    submit(std::move(barrier), [this, at = connection_](const reply& r) {
        if (at == connection_ && connected_ && !proves_quorum(r.code) &&
            r.code != result_code::no_auth) {
            // Not applied, or not for sure: answers on this connection may be old.
            behind_ = true;
            session_->reconnect();
        }
    });
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
    lists_.suspended();
}

/// Everything that lived with the session is gone. The session object itself may have a successor
/// already.
void client_core::end_session(loss why) {
    connected_ = false;
    if (session_id_.exchange(0, std::memory_order_acq_rel) == 0) {
        return;
    }
    validity_->end();
    heartbeat_.session_ends();
    slow_callbacks_.cancel();
    if (state() != connection_state::lost) {
        set_state(connection_state::lost);
    }
    for (const auto& user : users()) {
        user->session_ended(why);
    }
    deletes_.session_ended();
    drained_if_closing();
}

/// Ends the session object: what is in flight completes, then `after` runs, then the object is
/// destroyed, but not inside its own call.
void client_core::retire_session(std::function<void()> after) {
    ++opened_;
    if (!session_) {
        if (after) {
            after();
        }
        return;
    }
    // While the session still exists: it answers the lists behind what they were to show.
    lists_.suspended();
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

/// Also finds a callback that never returns, which could not report itself.
void client_core::look_for_slow_callbacks() {
    callbacks_->report_slow();
    slow_callbacks_.start(validity_->timeout() / 16, [this] { look_for_slow_callbacks(); });
}

client_core::sent_request client_core::sending(request::kind what) const {
    const bool write = what == request::kind::create || what == request::kind::remove ||
                       what == request::kind::set || what == request::kind::multi;
    return {generation_,
            validity_ ? validity_->submitted(env_.loop->now()) : validity::submission{},
            write};
}

void client_core::on_answer(const sent_request& sent, result_code code) {
    if (sent.generation != generation_ || !from_server(code)) {
        return;
    }
    heartbeat_.answered();
    const bool proof = sent.write && proves_quorum(code);
    const auto now = env_.loop->now();
    if (proof && heartbeat_.relied_upon() && now >= validity_->deadline()) {
        // The deadline passed before this proof arrived: what was held is lost before the deadline
        // moves on.
        on_deadline_passed();
    }
    validity_->answered(sent.known, now, proof);
    if (proof && state() == connection_state::lost && connected_) {
        set_state(connection_state::reconnected);
    }
}

}  // namespace latchkey

#include "client/session_keeper.hpp"

#include "client/client_options.hpp"
#include "session/chroot.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v0 {

namespace {

bool is_write(request::kind what) noexcept {
    return what == request::kind::create || what == request::kind::remove ||
           what == request::kind::set || what == request::kind::multi;
}

}  // namespace

session_keeper::session_keeper(const runtime& env,
                               connect_target target,
                               const client_options& options,
                               client_reports& reports,
                               session_owner& owner)
    : loop_(env.loop),
      sessions_(env.sessions),
      target_(std::move(target)),
      options_(options),
      reports_(reports),
      status_(*reports.status()),
      owner_(owner),
      guard_(options.guardian && env.guards
                 ? env.guards({*options.guardian, target_.servers, options.tls})
                 : nullptr),
      heartbeat_(*loop_, heartbeat_effects()),
      directories_(directory_effects()),
      reopen_(*loop_) {}

heartbeat::effects session_keeper::heartbeat_effects() {
    return {.beat =
                [this](const std::string& path, std::function<void()> answered) {
                    request write = request::multi({request::check(path)});
                    write.urgent = true;
                    submit(std::move(write),
                           [this, path, answered = std::move(answered)](const reply& r) {
                               answered();
                               if (r.code == result_code::no_node) {
                                   owner_.znode_missing(path);
                               }
                           });
                },
            .read =
                [this](std::function<void()> answered) {
                    submit(request::exists("/"),
                           [answered = std::move(answered)](const reply&) { answered(); });
                },
            .give_up_connection = [this] { session_->reconnect(); },
            .deadline_passed = [this] { on_deadline_passed(); }};
}

// ---- requests ----

void session_keeper::submit(request r,
                            const std::shared_ptr<session::watcher>& w,
                            session::completion done) {
    if (!session_) {
        loop_->post([done = std::move(done)] { done({.code = result_code::connection_loss}); });
        return;
    }
    if (write_before_read_ && !is_write(r.what)) {
        write_before_read_ = false;
        send_barrier();
    }
    sent_request about = sending(r.what);
    about.path = r.operations.empty() ? r.path : r.operations.front().path;
    prepend_chroot(target_.chroot, r);
    auto completed = [this, sent = std::move(about), done = std::move(done)](reply answer) {
        note_answer(sent, answer.code);
        on_answer(sent, answer.code);
        if (behind_ && !outcome_unknown(answer.code)) {
            answer = {.code = result_code::connection_loss};
        }
        strip_chroot(target_.chroot, answer);
        done(std::move(answer));
    };
    if (w) {
        session_->submit(std::move(r), w, std::move(completed));
    } else {
        session_->submit(std::move(r), std::move(completed));
    }
}

directory_creation session_keeper::create_directories(const std::string& path,
                                                      const acl& access,
                                                      directory_maker::last_level last) {
    return directories_.make(target_.chroot + (path == "/" ? "" : path), access, last);
}

directory_maker::effects session_keeper::directory_effects() {
    return {.send =
                [this](request r, session::completion done) {
                    if (session_) {
                        sent_request about = sending(r.what);
                        about.path = r.path.substr(std::min(target_.chroot.size(), r.path.size()));
                        session_->submit(
                            std::move(r),
                            [this, sent = std::move(about), done = std::move(done)](reply answer) {
                                if (!is_expected(answer.code)) {
                                    note_answer(sent, answer.code);
                                }
                                on_answer(sent, answer.code);
                                done(std::move(answer));
                            });
                    }
                },
            .exposed =
                [this](const std::string& path, const std::string& which) {
                    reports_.directory_exposed(path.substr(target_.chroot.size()), which);
                }};
}

session_keeper::sent_request session_keeper::sending(request::kind what) {
    const bool write = is_write(what);
    reports_.telemetry().sent();
    const auto now = loop_->now();
    return {what,
            now,
            generation_,
            validity_ ? validity_->submitted(now) : validity::submission{},
            write};
}

/// What was lost with a connection is reported after its end. So such a code is a server's answer
/// while there is a connection.
void session_keeper::note_answer(const sent_request& sent, result_code code) {
    const bool answered = sent.generation == generation_ && connected_;
    if (!answered) {
        return;
    }
    reports_.znode_answered(sent.path, sent.what, code);
    if (code == result_code::authentication_required) {
        // Every server closes the connection behind this answer, whatever is asked.
        loop_->post(
            [keep = owner_.keep_alive(), this, of = opened_, why = failure_of(code, sent.path)] {
                if (of == opened_ && session_) {
                    give_up(why);
                }
            });
    }
}

void session_keeper::on_answer(const sent_request& sent, result_code code) {
    const bool proof = sent.write && proves_quorum(code);
    reports_.telemetry().answered(sent.what, loop_->now() - sent.at, code, proof);
    if (sent.generation != generation_ || !from_server(code)) {
        return;
    }
    heartbeat_.answered();
    const auto now = loop_->now();
    if (proof && heartbeat_.relied_upon() && now >= validity_->deadline()) {
        // The deadline passed before this proof arrived: what was held is lost before the deadline
        // moves on.
        on_deadline_passed();
    }
    validity_->answered(sent.known, now, proof);
    if (proof && state_ == connection_state::lost && connected_) {
        set_state(connection_state::reconnected);
    }
}

// ---- events ----

void session_keeper::open() {
    if (last_) {
        return;
    }
    session_options o{.servers = target_.servers,
                      .timeout = options_.session_timeout,
                      .prefer = options_.prefer,
                      .is_idle = [this] { return !heartbeat_.demanded(); }};
    for (const credentials& c : options_.auth) {
        o.identities.push_back({c.scheme, c.secret});
    }
    // The session is destroyed on the loop before its keeper, and calls nothing after that.
    session_ = sessions_->open(
        o, [this, opened = ++opened_](const session_event& e) { on_event(opened, e); });
}

void session_keeper::open_no_more() {
    last_ = true;
    reopen_.cancel();
}

void session_keeper::on_event(std::uint64_t opened, const session_event& e) {
    if (opened != opened_ || !session_) {
        return;
    }
    const auto keep = owner_.keep_alive();
    switch (e.what) {
        case session_event::kind::connected:
            on_connected(e);
            break;
        case session_event::kind::suspended:
            on_suspended();
            break;
        case session_event::kind::expired:
            on_expired();
            break;
        case session_event::kind::auth_failed:
            give_up({errc::authentication_failed,
                     e.detail.empty() ? "the servers refused the credentials" : e.detail});
            break;
        case session_event::kind::trouble:
            reports_.trouble_changed(e, connected_);
            break;
    }
}

void session_keeper::on_connected(const session_event& e) {
    const std::int64_t known = status_.session_id();
    if (known != 0 && known != e.id) {
        // Some servers (ClickHouse Keeper) hand out another session without a notice. The
        // ephemerals of the first one are gone.
        end(loss_reason::session_replaced);
        if (!session_) {
            return;  // the client only waited for its deletes, and is closed now
        }
    }
    const bool fresh = status_.session_id() == 0;
    const auto assumptions = assumptions_of(options_);
    if (fresh) {
        ++generation_;
        status_.session_begins(e.id);
        validity_ = std::make_shared<validity>(assumptions);
        heartbeat_.session_begins(validity_);
    }
    if (!assumptions.suffice(e.timeout)) {
        give_up(granted_too_little(options_, e.timeout));
        return;
    }
    ++connection_;
    connected_ = true;
    validity_->connected(e.begun, loop_->now(), e.timeout);
    status_.session_connected(e.timeout);
    guard({e.id, e.password, e.timeout});
    backoff_.reset();
    reports_.trouble_changed({}, connected_);
    behind_ = write_before_read_ = false;
    if (!fresh) {
        send_barrier();
    }
    set_state(fresh ? connection_state::connected : connection_state::reconnected);
    heartbeat_.connected();
    owner_.session_connected();
}

/// The first request of each connection but a session's first, and of the first read behind a
/// direct grant: a write that changes nothing. What is answered behind it is at least as new as all
/// that this client has seen, and shows each create that it sent before, unless that has not
/// arrived. A new session needs none: to open it is a transaction.
void session_keeper::send_barrier() {
    request barrier = request::barrier();
    barrier.urgent = true;
    submit(std::move(barrier), [this, at = connection_](const reply& r) {
        if (at == connection_ && connected_ && !in_order_of_writes(r.code)) {
            // Not applied, or not for sure: answers on this connection may be old.
            behind_ = true;
            session_->reconnect();
        }
    });
}

void session_keeper::on_suspended() {
    if (!std::exchange(connected_, false)) {
        return;
    }
    heartbeat_.suspended();
    if (state_ != connection_state::lost) {
        set_state(connection_state::suspended);
    }
    owner_.session_suspended();
}

void session_keeper::on_expired() {
    retire();
    end(loss_reason::session_expired);
    // The deletes end with their session. A client that only waited for them may be closed now, and
    // destroyed on any thread.
    if (!last_) {
        reopen_.start(backoff_.next(loop_->random()), [this] { open(); });
    }
}

void session_keeper::on_deadline_passed() {
    set_state(connection_state::lost);
    owner_.validity_passed();
}

// ---- ends ----

/// Everything that lived with the session is gone. The session object itself may have a successor
/// already.
void session_keeper::end(loss_reason why) {
    connected_ = false;
    if (!status_.session_ends()) {
        return;
    }
    guard({});
    validity_->end(why);
    heartbeat_.session_ends();
    if (state_ != connection_state::lost) {
        set_state(connection_state::lost);
    }
    owner_.session_ended(why);
}

/// Ends the session object: what is in flight completes, then `after` runs, then the object is
/// destroyed, but not inside its own call.
void session_keeper::retire(std::function<void()> after) {
    ++opened_;
    if (!session_) {
        after();
        return;
    }
    owner_.session_retires();
    const std::shared_ptr<session> retired(std::move(session_));
    retired->close([this, keep = owner_.keep_alive(), retired, after = std::move(after)] {
        after();
        loop_->post([retired] {});
    });
}

void session_keeper::close(std::function<void()> ended) {
    connected_ = false;
    heartbeat_.session_ends();
    retire([this, ended = std::move(ended)] {
        if (validity_) {
            validity_->end(loss_reason::client_closed);
        }
        status_.session_ends();
        guard({});
        ended();
    });
}

/// The client can never be used again.
void session_keeper::give_up(failure why) {
    reports_.trouble_changed({.detail = why.detail}, connected_);
    retire();
    end(loss_reason::client_closed);
    owner_.client_closed(why);
}

void session_keeper::set_state(connection_state s) {
    if (std::exchange(state_, s) != s) {
        reports_.state_changed(s, validity_);
    }
}

}  // namespace latchkey::inline v0

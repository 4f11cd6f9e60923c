#include "ensemble/server/request_processor.hpp"

#include "ensemble/cluster.hpp"
#include "ensemble/server/frame_size.hpp"
#include "ensemble/server/server.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::model {
namespace {

bool is_write(const request& r) {
    switch (r.what) {
        case request::kind::create:
        case request::kind::remove:
        case request::kind::set:
        case request::kind::check:
        case request::kind::multi:
        case request::kind::set_acl:
            return true;
        default:
            return false;
    }
}

}  // namespace

request_processor::request_processor(cluster& all, server& of, database& data)
    : all_(&all), server_(&of), data_(&data) {}

connection_ptr request_processor::connection_of(std::int64_t session) const {
    const auto found = connections_.find(session);
    return found == connections_.end() ? nullptr : found->second;
}

void request_processor::accept(const connection_ptr& c, const hello& h) {
    if (!server_->serving()) {
        return refuse(c,
                      server_->now_is() == server::role::stopped ? "connection refused"
                                                                 : "no leader is known");
    }
    if (h.seen > data_->state().zxid()) {
        return refuse(c, "the server is behind what the client has seen");
    }
    for (const session_options::identity& credentials : h.credentials) {
        admit(*c, credentials);
    }
    c->timeout =
        std::clamp(h.timeout,
                   std::chrono::duration_cast<std::chrono::milliseconds>(all_->how().min_timeout),
                   std::chrono::duration_cast<std::chrono::milliseconds>(all_->how().max_timeout));
    forwarded f;
    f.ticket = all_->next_ticket();
    f.timeout = c->timeout;
    if (h.session == 0 || all_->takes_for_new(h.session)) {
        f.what = forwarded::kind::open_session;
        f.session = all_->new_session_id(server_->index());
    } else {
        f.what = forwarded::kind::revalidate;
        f.session = h.session;
        if (const connection_ptr old = connection_of(h.session)) {
            close(old, "the session came back on another connection");
        }
    }
    c->session = f.session;
    being_opened_[f.ticket] = c;
    server_->forward(std::move(f));
}

void request_processor::admit(connection& c, const session_options::identity& credentials) {
    if (credentials.scheme == "ip") {
        return;  // every connection has this identity
    }
    std::optional<identity> known = authenticate(credentials);
    if (!known) {
        c.unauthenticated = true;
    } else if (std::find(c.identities.begin(), c.identities.end(), *known) == c.identities.end()) {
        c.identities.push_back(std::move(*known));
    }
}

void request_processor::validated(std::uint64_t ticket, bool valid) {
    const auto found = being_opened_.find(ticket);
    if (found == being_opened_.end()) {
        return;
    }
    const connection_ptr c = found->second;
    being_opened_.erase(found);
    if (c->closed) {
        return;
    }
    if (valid) {
        return establish(c);
    }
    c->send_client([](connection_client& client) { client.session_unknown(); });
    c->closed = true;
}

void request_processor::establish(const connection_ptr& c) {
    connections_[c->session] = c;
    server_->touch(c->session);
    c->send_client([id = c->session, timeout = c->timeout](connection_client& client) {
        client.welcomed(id, timeout);
    });
    if (c->unauthenticated) {
        refuse_credentials(c);
    }
}

void request_processor::refuse_credentials(const connection_ptr& c) {
    c->send_client([](connection_client& client) { client.credentials_refused(); });
    forget(c);
}

void request_processor::receive(const connection_ptr& c, const std::shared_ptr<const packet>& p) {
    if (c->closed || connection_of(c->session) != c) {
        return;
    }
    server_->touch(c->session);
    pending received;
    received.what = p;
    if (p->what == packet::kind::request) {
        if (p->size == 0 && frame_size(p->body) > all_->how().max_request) {
            return close(c, "a request was too large");
        }
        all_->counted().request_of(c->session, *p);
        received.fault = all_->judge(*c, *p);
        if (received.fault.what == fault_plan::fault::cut && !received.fault.done) {
            return close(c, "a fault before the request", received.fault.code);
        }
    } else if (p->what == packet::kind::close) {
        static_cast<void>(all_->judge(*c, *p));
    } else if (p->what == packet::kind::auth) {
        // The credentials count from now on, and are answered in their turn.
        admit(*c, p->credentials);
        if (c->unauthenticated) {
            return refuse_credentials(c);
        }
    }
    enqueue(c, std::move(received));
}

void request_processor::enqueue(const connection_ptr& c, pending p) {
    const packet& what = *p.what;
    // A leader answers the syncs of its own clients as if they were reads.
    const bool with_the_log = what.what == packet::kind::close ||
                              (what.what == packet::kind::request && p.fault.done &&
                               (is_write(what.body) || (what.body.what == request::kind::sync &&
                                                        server_->leading() == nullptr)));
    if (with_the_log) {
        p.ticket = all_->next_ticket();
    }
    const std::uint64_t ticket = p.ticket;
    c->waiting.push_back(std::move(p));
    if (ticket != 0) {
        forward_packet(*c, what, ticket);
    } else if (c->waiting.size() == 1) {
        drain(c);
    }
}

void request_processor::forward_packet(connection& c, const packet& p, std::uint64_t ticket) {
    forwarded f;
    f.session = c.session;
    f.ticket = ticket;
    if (p.what == packet::kind::close) {
        f.what = forwarded::kind::close_session;
    } else if (p.body.what == request::kind::sync) {
        f.what = forwarded::kind::sync;
    } else {
        f.what = forwarded::kind::write;
        f.body = p.body;
        f.identities = c.identities;
    }
    server_->forward(std::move(f));
}

void request_processor::drain(const connection_ptr& c) {
    while (!c->closed && !c->waiting.empty() && c->waiting.front().ticket == 0) {
        const pending p = std::move(c->waiting.front());
        c->waiting.pop_front();
        serve(c, p);
    }
}

void request_processor::serve(const connection_ptr& c, const pending& p) {
    reply r;
    switch (p.what->what) {
        case packet::kind::request:
            return respond(c, p, p.fault.done ? data_->read(*c, *p.what) : reply{});
        case packet::kind::add_watch:
            data_->watch_lastingly(*c, *p.what);
            return answer(c, std::move(r));
        case packet::kind::check_watches:
        case packet::kind::remove_watches:
            r.code = data_->find_watches(*c, *p.what);
            return answer(c, std::move(r));
        case packet::kind::who_am_i:
            for (const identity& i : c->identities) {
                r.access.push_back({i.scheme, user_of(i), {}});
            }
            return answer(c, std::move(r));
        case packet::kind::ephemerals:
        case packet::kind::count_below:
        case packet::kind::multi_read:
            return answer(c, data_->look(*c, *p.what));
        case packet::kind::refused:
            r.code = p.what->code;
            answer(c, std::move(r));
            if (p.what->hangs_up) {
                close(c, "the operation is unknown");
            }
            return;
        case packet::kind::set_watches:
            data_->set_watches(*c, *p.what);
            break;
        default:
            break;
    }
    const std::int64_t zxid = p.what->what == packet::kind::auth ? 0 : data_->state().zxid();
    c->send_client([zxid](connection_client& client) { client.heard(zxid); });
}

void request_processor::notify(connection& c,
                               watch_event e,
                               const std::string& path,
                               bool replayed) {
    all_->count_event(c, path, replayed);
    c.send_client([e, path](connection_client& client) { client.notified(e, path); });
}

void request_processor::respond(const connection_ptr& c, const pending& p, reply r) {
    if (p.fault.what == fault_plan::fault::refusal) {
        r = {};
        r.code = p.fault.code;
    }
    all_->answering(*c, p.what->body, r.code);
    if (p.fault.what == fault_plan::fault::cut) {
        return close(c, "a fault after the request", p.fault.code);
    }
    // That a session has moved concerns the connection, not the request (ZOOKEEPER-710).
    if (r.code == result_code::session_moved) {
        return close(c, "the session moved to another server");
    }
    all_->counted().answer(c->session, *p.what, r);
    answer(c, std::move(r));
}

void request_processor::answer(const connection_ptr& c, reply r) {
    c->send_client([r = std::move(r), zxid = data_->state().zxid()](
                       connection_client& client) mutable { client.answered(std::move(r), zxid); });
}

void request_processor::refuse(const connection_ptr& c, const char* why, result_code code) {
    c->closed = true;
    c->send_client([why, code](connection_client& client) { client.dropped(why, code); });
}

void request_processor::close(const connection_ptr& c, const char* why, result_code code) {
    if (!c->closed) {
        forget(c);
        refuse(c, why, code);
    }
}

void request_processor::forget(const connection_ptr& c) {
    c->closed = true;
    c->waiting.clear();
    data_->forget(*c);
    const auto found = connections_.find(c->session);
    if (found != connections_.end() && found->second == c) {
        connections_.erase(found);
    }
}

void request_processor::cut(std::int64_t session) {
    if (const connection_ptr c = connection_of(session)) {
        close(c, "the connection was cut");
    }
}

void request_processor::hung_up(const connection_ptr& c) {
    forget(c);
    std::erase_if(being_opened_, [&](const auto& entry) { return entry.second == c; });
}

void request_processor::committed(const transaction& t) {
    connection_ptr c;
    if (t.ticket != 0 && t.what != transaction::kind::open_session) {
        c = connection_of(t.session);
        if (c != nullptr && (c->waiting.empty() || c->waiting.front().ticket != t.ticket)) {
            c = nullptr;
        }
    }
    all_->applied(t);
    reply answer = data_->apply(t, c == nullptr ? nullptr : c->waiting.front().what.get());
    complete(t, c, std::move(answer));
}

void request_processor::complete(const transaction& t, const connection_ptr& c, reply answer) {
    if (t.what == transaction::kind::open_session) {
        validated(t.ticket, true);
        return;
    }
    if (t.what == transaction::kind::close_session) {
        if (c != nullptr) {
            c->send_client([](connection_client& client) { client.session_closed(); });
        }
        if (const connection_ptr last = connection_of(t.session)) {
            close(last, "the session is over");
        }
        return;
    }
    if (c != nullptr) {
        const pending p = std::move(c->waiting.front());
        c->waiting.pop_front();
        respond(c, p, std::move(answer));
        drain(c);
    }
}

void request_processor::synced(std::int64_t session, std::uint64_t ticket) {
    const connection_ptr c = connection_of(session);
    if (c == nullptr || c->waiting.empty() || c->waiting.front().ticket != ticket) {
        return;
    }
    const pending p = std::move(c->waiting.front());
    c->waiting.pop_front();
    respond(c, p, {});
    drain(c);
}

void request_processor::close_all() {
    while (!connections_.empty()) {
        const connection_ptr c = connections_.begin()->second;  // closing removes it there
        close(c, "the server went away");
    }
    for (const auto& [ticket, c] : std::exchange(being_opened_, {})) {
        refuse(c, "the server went away");
    }
}

}  // namespace latchkey::model

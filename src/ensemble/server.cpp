#include "ensemble/server.hpp"

#include "ensemble/cluster.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::model {
namespace {

std::size_t size_of(const request& r) {
    std::size_t size = 32 + r.path.size() + r.data.size();
    for (const acl_entry& e : r.access) {
        size += 12 + e.scheme.size() + e.id.size();
    }
    for (const request& operation : r.operations) {
        size += size_of(operation);
    }
    return size;
}

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

// As real servers do, shows the hash of a password only to clients that could change it.
acl shown(acl access, bool to_admin) {
    for (acl_entry& e : access) {
        if (e.scheme == "digest" && !to_admin) {
            e.id.replace(e.id.find(':') + 1, std::string::npos, "x");
        }
    }
    return access;
}

}  // namespace

connection_ptr server::connection_of(std::int64_t session) const {
    const auto found = connections_.find(session);
    return found == connections_.end() ? nullptr : found->second;
}

void server::touch(std::int64_t session) {
    if (leader_ != nullptr) {
        leader_->sessions().touch(session);
    } else {
        touched_.insert(session);
    }
}

void server::accept(const connection_ptr& c, const hello& h) {
    if (!serving()) {
        return refuse(c, role_ == role::stopped ? "connection refused" : "no leader is known");
    }
    if (h.seen > tree_.zxid()) {
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
        f.session = all_->new_session_id(index_);
    } else {
        f.what = forwarded::kind::revalidate;
        f.session = h.session;
        if (const connection_ptr old = connection_of(h.session)) {
            close(old, "the session came back on another connection");
        }
    }
    c->session = f.session;
    being_opened_[f.ticket] = c;
    forward(std::move(f));
}

void server::admit(connection& c, const session_options::identity& credentials) {
    if (std::optional<identity> known = authenticate(credentials)) {
        c.identities.push_back(std::move(*known));
    } else {
        c.unauthenticated = true;
    }
}

void server::validated(std::uint64_t ticket, bool valid) {
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
    c->send_client([](connection_client& client) { client.session_unknown(); },
                   all_->client_latency());
    c->closed = true;
}

void server::establish(const connection_ptr& c) {
    connections_[c->session] = c;
    touch(c->session);
    c->send_client([id = c->session, timeout = c->timeout](
                       connection_client& client) { client.welcomed(id, timeout); },
                   all_->client_latency());
    if (c->unauthenticated) {
        refuse_credentials(c);
    }
}

void server::refuse_credentials(const connection_ptr& c) {
    c->send_client([](connection_client& client) { client.credentials_refused(); },
                   all_->client_latency());
    forget(c);
}

void server::receive(const connection_ptr& c, const std::shared_ptr<const packet>& p) {
    if (c->closed || connection_of(c->session) != c) {
        return;
    }
    touch(c->session);
    pending received;
    received.what = p;
    if (p->what == packet::kind::request) {
        if (p->size == 0 && size_of(p->body) > all_->how().max_request) {
            return close(c, "a request was too large");
        }
        all_->count_request(c->session, *p);
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

void server::enqueue(const connection_ptr& c, pending p) {
    const packet& what = *p.what;
    // A leader answers the syncs of its own clients as if they were reads.
    const bool with_the_log =
        what.what == packet::kind::close ||
        (what.what == packet::kind::request && p.fault.done &&
         (is_write(what.body) || (what.body.what == request::kind::sync && leader_ == nullptr)));
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

void server::forward_packet(connection& c, const packet& p, std::uint64_t ticket) {
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
    forward(std::move(f));
}

void server::drain(const connection_ptr& c) {
    while (!c->closed && !c->waiting.empty() && c->waiting.front().ticket == 0) {
        const pending p = std::move(c->waiting.front());
        c->waiting.pop_front();
        serve(c, p);
    }
}

void server::serve(const connection_ptr& c, const pending& p) {
    reply r;
    switch (p.what->what) {
        case packet::kind::request:
            return respond(c, p, p.fault.done ? read(*c, *p.what) : reply{});
        case packet::kind::add_watch:
            watches_.watch_lastingly(*c, p.what->body.path, p.what->kinds.recursive);
            return answer(c, std::move(r));
        case packet::kind::check_watches:
        case packet::kind::remove_watches:
            r.code = find_watches(*c, *p.what);
            return answer(c, std::move(r));
        case packet::kind::refused:
            r.code = p.what->code;
            return answer(c, std::move(r));
        case packet::kind::set_watches:
            set_watches(*c, *p.what);
            break;
        default:
            break;
    }
    c->send_client([zxid = tree_.zxid()](connection_client& client) { client.heard(zxid); },
                   all_->client_latency());
}

reply server::read(connection& c, const packet& p) {
    const request& r = p.body;
    reply a;
    if (r.what == request::kind::sync) {
        return a;
    }
    const znode* const node = tree_.find(r.path);
    if (p.watch && r.what == request::kind::exists) {
        watches_.watch_data(c, r.path);  // also for a znode that does not exist yet
    }
    if (node == nullptr) {
        a.code = result_code::no_node;
        return a;
    }
    const auto permitted = [&](permission wanted) {
        return permits(*node->access, wanted, c.identities);
    };
    const bool to_all = r.what == request::kind::exists ||
                        (r.what == request::kind::get_acl && permitted(permission::admin));
    if (!to_all && !permitted(permission::read)) {
        a.code = result_code::no_auth;
        return a;
    }
    if (r.what != request::kind::children || p.stats) {
        a.stat = node->stat();
    }
    if (r.what == request::kind::children) {
        a.names = tree_.children(r.path);
    } else if (r.what == request::kind::get) {
        a.data = node->data;
    } else if (r.what == request::kind::get_acl) {
        a.access = shown(*node->access, permitted(permission::admin));
    }
    if (p.watch && r.what == request::kind::get) {
        watches_.watch_data(c, r.path);
    } else if (p.watch && r.what == request::kind::children) {
        watches_.watch_children(c, r.path);
    }
    return a;
}

void server::set_watches(connection& c, const packet& p) {
    for (const std::string& path : p.data_watches) {
        const znode* const node = tree_.find(path);
        if (node == nullptr) {
            notify(c, watch_event::deleted, path, true);
        } else if (node->mzxid > p.seen) {
            notify(c, watch_event::changed, path, true);
        } else {
            watches_.watch_data(c, path);
        }
    }
    for (const std::string& path : p.exists_watches) {
        if (tree_.find(path) != nullptr) {
            notify(c, watch_event::created, path, true);
        } else {
            watches_.watch_data(c, path);
        }
    }
    for (const std::string& path : p.lasting_watches) {
        watches_.watch_lastingly(c, path, false);  // lasting watches do not report what was missed
    }
    for (const std::string& path : p.recursive_watches) {
        watches_.watch_lastingly(c, path, true);
    }
    for (const std::string& path : p.child_watches) {
        const znode* const node = tree_.find(path);
        if (node == nullptr) {
            notify(c, watch_event::deleted, path, true);
        } else if (node->pzxid > p.seen) {
            notify(c, watch_event::children_changed, path, true);
        } else {
            watches_.watch_children(c, path);
        }
    }
}

result_code server::find_watches(connection& c, const packet& p) {
    const bool remove = p.what == packet::kind::remove_watches;
    return watches_.find(c, p.body.path, p.kinds, remove) ? result_code::ok
                                                          : result_code::no_watcher;
}

void server::notify(connection& c, watch_event e, const std::string& path, bool replayed) {
    all_->count_event(c, path, replayed);
    c.send_client([e, path](connection_client& client) { client.notified(e, path); },
                  all_->client_latency());
}

void server::respond(const connection_ptr& c, const pending& p, reply r) {
    all_->answering(*c, p.what->body);
    if (p.fault.what == fault_plan::fault::cut) {
        return close(c, "a fault after the request", p.fault.code);
    }
    if (p.fault.what == fault_plan::fault::refusal) {
        r = {};
        r.code = p.fault.code;
    }
    // That a session has moved concerns the connection, not the request (ZOOKEEPER-710).
    if (r.code == result_code::session_moved) {
        return close(c, "the session moved to another server");
    }
    answer(c, std::move(r));
}

void server::answer(const connection_ptr& c, reply r) {
    c->send_client([r = std::move(r), zxid = tree_.zxid()](
                       connection_client& client) mutable { client.answered(std::move(r), zxid); },
                   all_->client_latency());
}

void server::refuse(const connection_ptr& c, const char* why, result_code code) {
    c->closed = true;
    c->send_client([why, code](connection_client& client) { client.dropped(why, code); },
                   all_->client_latency());
}

void server::close(const connection_ptr& c, const char* why, result_code code) {
    if (!c->closed) {
        forget(c);
        refuse(c, why, code);
    }
}

void server::forget(const connection_ptr& c) {
    c->closed = true;
    c->waiting.clear();
    watches_.forget(*c);
    const auto found = connections_.find(c->session);
    if (found != connections_.end() && found->second == c) {
        connections_.erase(found);
    }
}

void server::cut(std::int64_t session) {
    if (const connection_ptr c = connection_of(session)) {
        close(c, "the connection was cut");
    }
}

void server::hung_up(const connection_ptr& c) {
    forget(c);
    std::erase_if(being_opened_, [&](const auto& entry) { return entry.second == c; });
}

}  // namespace latchkey::model

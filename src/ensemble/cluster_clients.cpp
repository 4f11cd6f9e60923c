#include "ensemble/cluster.hpp"
#include "ensemble/ensemble_session.hpp"

#include <algorithm>

namespace latchkey::model {

std::uint64_t& counter_for(testing::counters& c, const request& r) {
    switch (r.what) {
        case request::kind::create:
            return c.creates;
        case request::kind::remove:
            return c.removes;
        case request::kind::get:
        case request::kind::get_acl:
            return c.gets;
        case request::kind::exists:
            return c.exists;
        case request::kind::children:
            return c.children;
        case request::kind::set:
        case request::kind::set_acl:
            return c.sets;
        case request::kind::sync:
            return c.syncs;
        case request::kind::check:
        case request::kind::multi:
            break;
    }
    const bool only_checks =
        r.what == request::kind::check ||
        std::all_of(r.operations.begin(), r.operations.end(), [](const request& operation) {
            return operation.what == request::kind::check;
        });
    return only_checks ? c.checks : c.multis;
}

void cluster::count_request(std::int64_t session, const packet& p) {
    for (testing::counters* const c : {&total_, &by_session_[session]}) {
        ++counter_for(*c, p.body);
        c->watches_set += p.watch ? 1U : 0U;
    }
}

void cluster::count_event(const connection& c, const std::string& path, bool replayed) {
    ++total_.watch_events;
    ++by_session_[c.session].watch_events;
    if (observer_ != nullptr) {
        observer_->notified(c, path, replayed);
    }
}

fault_plan::verdict cluster::judge(const connection& c, const packet& p) {
    fault_plan::verdict v;
    if (observer_ != nullptr) {
        v = observer_->received(c, p);
    }
    return p.what == packet::kind::request && v.what == fault_plan::fault::none
               ? faults_.judge(c.session, p.body.what)
               : v;
}

void cluster::answering(const connection& c, const request& r) {
    if (observer_ != nullptr) {
        observer_->answering(c, r);
    }
}

void cluster::applied(const transaction& t) {
    if (t.zxid > last_applied_) {
        last_applied_ = t.zxid;
        if (observer_ != nullptr) {
            observer_->committed(t);
        }
    }
}

testing::counters cluster::count(std::int64_t session) const {
    const auto found = by_session_.find(session);
    return found == by_session_.end() ? testing::counters{} : found->second;
}

void cluster::reset_counters() {
    total_ = {};
    by_session_.clear();
}

std::size_t cluster::open_watches() const {
    std::size_t sum = 0;
    for (const auto& s : servers_) {
        sum += s->watches();
    }
    return sum;
}

std::shared_ptr<client_process> cluster::make_process() {
    auto p = std::make_shared<client_process>();
    p->loop = virtual_loop::make_process(loop_);
    p->refused = shut_down_;
    std::erase_if(processes_, [](const auto& weak) { return weak.expired(); });
    processes_.push_back(p);
    return p;
}

connection_ptr cluster::connect(client_process& from, int server) {
    auto c = std::make_shared<connection>(*from.loop, at(server).process());
    if (from.black_holed) {
        c->to_client.hold();
        c->to_server.hold();
    }
    for (auto* const all : {&connections_, &from.connections}) {
        std::erase_if(*all, [](const auto& weak) { return weak.expired(); });
        all->push_back(c);
    }
    return c;
}

void cluster::hang_up(const connection_ptr& c, int server, bool abruptly) {
    c->client = nullptr;
    c->to_client.close();
    if (shut_down_) {
        return;
    }
    if (abruptly) {
        c->to_server.keep(random_.below(c->to_server.in_flight() + 1));
    }
    c->to_server.send(
        c,
        [end = c.get(), to = &at(server)] { to->hung_up(end->shared_from_this()); },
        client_latency());
}

void cluster::black_hole(client_process& p, bool on) {
    p.black_holed = on;
    for (const std::weak_ptr<connection>& weak : p.connections) {
        if (const connection_ptr c = weak.lock()) {
            for (channel* const direction : {&c->to_client, &c->to_server}) {
                if (on) {
                    direction->hold();
                } else {
                    direction->release(c);
                }
            }
        }
    }
}

void cluster::confine(client_process& p, int server) {
    p.only_server = at(server).index();
    for (ensemble_session* const s : p.sessions) {
        if (s->server() != server) {
            s->break_connection();
        }
    }
}

void cluster::opened(std::int64_t session, const std::shared_ptr<client_process>& by) {
    opened_[session] = by;
    if (observer_ != nullptr) {
        observer_->opened(session, *by);
    }
}

std::shared_ptr<client_process> cluster::process_of(std::int64_t session) const {
    const auto found = opened_.find(session);
    return found == opened_.end() || found->second->remote ? nullptr : found->second;
}

ensemble_session* cluster::client_of(std::int64_t session) const {
    const std::shared_ptr<client_process> p = process_of(session);
    if (p != nullptr) {
        for (ensemble_session* const s : p->sessions) {
            if (s->id() == session) {
                return s;
            }
        }
    }
    return nullptr;
}

std::vector<testing::ensemble::session_info> cluster::sessions() const {
    leader* const l = leading();
    std::vector<testing::ensemble::session_info> all;
    for (const auto& [id, process] : opened_) {
        testing::ensemble::session_info info;
        info.id = id;
        info.alive = l != nullptr && l->sessions().alive(id);
        for (const auto& s : servers_) {
            if (s->connection_of(id) != nullptr) {
                info.connected = true;
                info.server = s->index();
            }
        }
        all.push_back(info);
    }
    return all;
}

}  // namespace latchkey::model

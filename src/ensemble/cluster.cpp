#include "ensemble/cluster.hpp"

#include "ensemble/ensemble_session.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::model {

cluster::cluster(const settings& how, std::shared_ptr<virtual_loop> l)
    : how_(how),
      loop_(std::move(l)),
      random_(loop_->random()),
      faults_(random_()),
      since_1970_(loop_->stepped() ? duration::zero()
                                   : std::chrono::system_clock::now().time_since_epoch() -
                                         loop_->now().time_since_epoch()),
      isolated_(static_cast<std::size_t>(how.servers), false),
      lag_(static_cast<std::size_t>(how.servers)),
      epoch_(how.first_zxid > 0 ? (how.first_zxid >> 32U) - 1 : 0),
      election_(*loop_),
      last_session_(how.first_session),
      datagrams_(loop_, loop_->random_stream("datagrams")) {
    for (int i = 0; i < how.servers; ++i) {
        servers_.push_back(std::make_unique<server>(*this, i, virtual_process::make(loop_)));
    }
    for (const auto& s : servers_) {
        s->start();
    }
    elect();
}

cluster::~cluster() = default;

cluster::duration cluster::peer_latency() {
    const duration d = how_.between_servers;
    const auto jitter = static_cast<std::uint64_t>(how_.jitter.count());
    return d == duration::zero() ? d : d + duration(random_.below(jitter + 1));
}

cluster::duration cluster::lag(int index) const {
    return lag_[static_cast<std::size_t>(index)];
}

std::int64_t cluster::new_session_id(int server) {
    return (static_cast<std::int64_t>(server + 1) << 56U) | ++last_session_;
}

std::int64_t cluster::time() const {
    return std::chrono::floor<std::chrono::milliseconds>(since_1970_ +
                                                         loop_->now().time_since_epoch())
        .count();
}

void cluster::cut(std::int64_t session) {
    if (ensemble_session* const client = client_of(session)) {
        return client->break_connection();
    }
    for (const auto& s : servers_) {
        s->clients().cut(session);
    }
}

leader* cluster::leading() const noexcept {
    const int index = leading_index();
    return index < 0 ? nullptr : servers_[static_cast<std::size_t>(index)]->leading();
}

int cluster::leading_index() const noexcept {
    int newest = -1;
    std::int64_t epoch = 0;
    for (const auto& s : servers_) {
        if (s->leading() != nullptr && s->leading()->epoch() > epoch) {
            newest = s->index();
            epoch = s->leading()->epoch();
        }
    }
    return newest;
}

bool cluster::within_reach(int index) const {
    const auto i = static_cast<std::size_t>(index);
    return !isolated_[i] && !servers_[i]->process().paused() &&
           servers_[i]->now_is() != server::role::stopped;
}

bool cluster::everywhere(std::int64_t zxid) const {
    return std::all_of(servers_.begin(), servers_.end(), [&](const auto& s) {
        return !s->serving() || !within_reach(s->index()) || lag(s->index()) > duration::zero() ||
               s->applied().zxid() >= zxid;
    });
}

// Elections happen in one step. No client is served meanwhile, so the steps of an election could
// not be told apart from outside.

void cluster::someone_looks() {
    if (!election_.running() && !shut_down_) {
        election_.start(how_.election, [this] { elect(); });
    }
}

void cluster::elect() {
    std::vector<server*> candidates;
    for (const auto& s : servers_) {
        if (s->now_is() == server::role::looking && within_reach(s->index())) {
            candidates.push_back(s.get());
        }
    }
    if (candidates.empty()) {
        return;
    }
    const int present = leading_index();
    if (present >= 0 && within_reach(present)) {
        // No server follows a leader that was deposed and does not know it yet.
        std::erase_if(candidates, [&](server* s) {
            const bool joins = s->epoch() <= at(present).epoch();
            if (joins) {
                join(*s, at(present));
            }
            return joins;
        });
    }
    if (static_cast<int>(candidates.size()) < majority()) {
        return;
    }
    server* const winner =
        *std::max_element(candidates.begin(), candidates.end(), [](server* a, server* b) {
            return std::make_pair(a->epoch(), a->last_logged()) <
                   std::make_pair(b->epoch(), b->last_logged());
        });
    winner->apply_all();
    winner->lead(++epoch_);
    for (server* const s : candidates) {
        if (s != winner) {
            join(*s, *winner);
        }
    }
}

void cluster::join(server& follower, server& to) {
    const auto link = std::make_shared<peer_link>(to, follower);
    std::erase_if(links_, [](const std::weak_ptr<peer_link>& l) { return l.expired(); });
    links_.push_back(link);
    to.leading()->add_follower(link);
    follower.follow(link);
}

// Clients.

void cluster::count_event(const connection& c, const std::string& path, bool replayed) {
    counted_.event(c.session, path);
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

void cluster::answering(const connection& c, const request& r, result_code code) {
    if (observer_ != nullptr) {
        observer_->answering(c, r, code);
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

std::size_t cluster::open_watches() const {
    std::size_t sum = 0;
    for (const auto& s : servers_) {
        sum += s->watches();
    }
    return sum;
}

std::shared_ptr<client_process> cluster::make_process() {
    auto p = std::make_shared<client_process>();
    p->loop = virtual_process::make(loop_);
    p->refused = shut_down_;
    std::erase_if(processes_, [](const auto& weak) { return weak.expired(); });
    processes_.push_back(p);
    return p;
}

connection_ptr cluster::connect(client_process& from, int server, std::string address) {
    auto c =
        std::make_shared<connection>(*from.loop, at(server).process(), how_.one_way, how_.jitter);
    c->identities.push_back({"ip", std::move(address)});
    c->hold(from.black_holed);
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
        c->to_server.keep(c->random.below(c->to_server.in_flight() + 1));
    }
    c->send_server(
        [end = c.get(), to = &at(server)] { to->clients().hung_up(end->shared_from_this()); });
}

void cluster::black_hole(client_process& p, bool on) {
    p.black_holed = on;
    for (const std::weak_ptr<connection>& weak : p.connections) {
        if (const connection_ptr c = weak.lock()) {
            c->hold(on);
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
        // A server that is paused does not know that its client has moved on.
        const ensemble_session* const client = client_of(id);
        for (const auto& s : servers_) {
            if (s->clients().connection_of(id) != nullptr) {
                const bool is_its = client == nullptr || client->server() == s->index();
                info.server = !info.connected || is_its ? s->index() : info.server;
                info.connected = true;
            }
        }
        all.push_back(info);
    }
    return all;
}

// Actions.

void cluster::start(int index) {
    if (!shut_down_) {
        at(index).start();
    }
}

void cluster::stop(int index) {
    at(index).stop();
}

void cluster::pause(int index) {
    at(index).process().pause();
}

void cluster::resume(int index) {
    at(index).process().resume();
    someone_looks();
}

void cluster::isolate(int index, bool cut_off) {
    isolated_.at(static_cast<std::size_t>(index)) = cut_off;
    // Includes links that only one end still has: their last messages are on them.
    for (const std::weak_ptr<peer_link>& weak : links_) {
        if (const link_ptr l = weak.lock()) {
            l->hold(isolated_[static_cast<std::size_t>(l->leading->index())] ||
                    isolated_[static_cast<std::size_t>(l->following->index())]);
        }
    }
    if (!cut_off) {
        someone_looks();
    }
}

void cluster::lag(int index, duration by) {
    lag_.at(static_cast<std::size_t>(index)) = by;
}

void cluster::shut_down() {
    shut_down_ = true;
    for (const auto& s : servers_) {
        s->process().resume();
        s->stop();
    }
    election_.cancel();
    for (const std::weak_ptr<peer_link>& weak : links_) {
        if (const link_ptr l = weak.lock()) {
            l->up.close();
            l->down.close();
        }
    }
    // What is in flight must not arrive at a server that no longer exists.
    for (const std::weak_ptr<connection>& weak : connections_) {
        if (const connection_ptr c = weak.lock()) {
            c->to_server.close();
        }
    }
    for (const std::weak_ptr<client_process>& weak : processes_) {
        if (const std::shared_ptr<client_process> p = weak.lock()) {
            p->refused = true;
            black_hole(*p, false);
            p->loop->resume();
        }
    }
}

}  // namespace latchkey::model

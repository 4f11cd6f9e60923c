#include "ensemble/cluster.hpp"
#include "ensemble/server.hpp"

#include <utility>

namespace latchkey::model {

server::server(cluster& all, int index, std::shared_ptr<virtual_loop::process> process)
    : all_(&all),
      index_(index),
      process_(std::move(process)),
      tree_(tree::view::committed, all.how().first_zxid),
      watches_([this](connection& c, watch_event e, const std::string& path) {
          notify(c, e, path, false);
      }),
      patience_(*process_) {}

server::~server() = default;

void server::forward(forwarded f) {
    if (leader_ != nullptr) {
        leader_->submit(f, nullptr);
        return;
    }
    link_->send_leader([f = std::move(f)](leader& l, const link_ptr& from) { l.submit(f, from); },
                       all_->peer_latency());
}

void server::proposed(transaction_ptr t) {
    const std::int64_t zxid = t->zxid;
    log_.push_back(std::move(t));
    if (link_ != nullptr) {
        acknowledge(zxid);
    }
}

void server::acknowledge(std::int64_t zxid) {
    link_->send_leader([zxid](leader& l, const link_ptr& from) { l.acked(from, zxid); },
                       all_->peer_latency());
}

void server::committed(std::int64_t zxid) {
    while (!log_.empty() && log_.front()->zxid <= zxid) {
        const transaction_ptr t = std::move(log_.front());
        log_.pop_front();
        apply(*t);
    }
}

void server::apply_all() {
    committed(last_logged());
}

void server::apply(const transaction& t) {
    connection_ptr c;
    if (t.ticket != 0 && t.what != transaction::kind::open_session) {
        c = connection_of(t.session);
        if (c != nullptr && (c->waiting.empty() || c->waiting.front().ticket != t.ticket)) {
            c = nullptr;
        }
    }
    all_->applied(t);
    reply answer;
    if (c != nullptr) {
        answer = t.answer;
    }
    const bool stats_of_creates = c != nullptr && c->waiting.front().what->stats;
    for (const change& step : t.changes) {
        tree_.apply(step, t.zxid);
        if (c != nullptr && t.asked == request::kind::multi) {
            if (step.what == change::kind::set_data ||
                (step.what == change::kind::create && stats_of_creates)) {
                answer.results[step.result].stat = tree_.find(step.path)->stat();
            }
        } else if (c != nullptr && step.what != change::kind::remove) {
            answer.stat = tree_.find(step.path)->stat();
        }
        switch (step.what) {
            case change::kind::create:
                watches_.created(step.path);
                break;
            case change::kind::remove:
                watches_.removed(step.path);
                break;
            case change::kind::set_data:
                watches_.changed(step.path);
                break;
            default:
                break;
        }
    }
    tree_.apply_session(t);
    complete(t, c, std::move(answer));
}

void server::complete(const transaction& t, const connection_ptr& c, reply answer) {
    if (t.what == transaction::kind::open_session) {
        validated(t.ticket, true);
        return;
    }
    if (t.what == transaction::kind::close_session) {
        touched_.erase(t.session);
        if (c != nullptr) {
            c->send_client([](connection_client& client) { client.session_closed(); },
                           all_->client_latency());
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

void server::synced(std::int64_t session, std::uint64_t ticket) {
    const connection_ptr c = connection_of(session);
    if (c == nullptr || c->waiting.empty() || c->waiting.front().ticket != ticket) {
        return;
    }
    const pending p = std::move(c->waiting.front());
    c->waiting.pop_front();
    respond(c, p, {});
    drain(c);
}

void server::pinged() {
    heard_leader_ = process_->now();
    link_->send_leader([touched = std::vector<std::int64_t>(touched_.begin(), touched_.end())](
                           leader& l, const link_ptr& from) { l.heard(from, touched); },
                       all_->peer_latency());
    touched_.clear();
}

void server::be_patient() {
    const auto limit = all_->how().tick * all_->how().sync_limit;
    patience_.start(heard_leader_ + limit, [this, limit] {
        if (process_->now() - heard_leader_ >= limit) {
            look();
        } else {
            be_patient();
        }
    });
}

void server::leader_gone(const peer_link& l) {
    if (&l == link_.get()) {
        look();
    }
}

void server::start() {
    if (role_ == role::stopped) {
        look();
    }
}

void server::stop() {
    leave(role::stopped);
}

void server::look() {
    leave(role::looking);
    all_->someone_looks();
}

void server::leave(role next) {
    role_ = next;
    while (!connections_.empty()) {
        const connection_ptr c = connections_.begin()->second;  // closing removes it there
        close(c, "the server went away");
    }
    for (const auto& [ticket, c] : std::exchange(being_opened_, {})) {
        refuse(c, "the server went away");
    }
    leader_ = nullptr;
    touched_.clear();
    patience_.cancel();
    if (const link_ptr l = std::exchange(link_, nullptr)) {
        l->down.close();
        l->send_leader([](leader& to, const link_ptr& from) { to.lost_follower(from); },
                       all_->peer_latency());
    }
}

void server::lead(std::int64_t epoch) {
    role_ = role::leading;
    epoch_ = epoch;
    leader_ = std::make_unique<leader>(*all_, *this, epoch);
}

void server::follow(const link_ptr& l) {
    const server& from = *l->leading;
    role_ = role::following;
    epoch_ = from.epoch_;
    link_ = l;
    // States with the same zxid are equal.
    if (tree_.zxid() != from.tree_.zxid()) {
        tree_ = from.tree_;
    }
    log_ = from.log_;
    l->acked = tree_.zxid();
    if (!log_.empty()) {
        acknowledge(log_.back()->zxid);
    }
    heard_leader_ = process_->now();
    be_patient();
}

}  // namespace latchkey::model

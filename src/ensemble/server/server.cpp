#include "ensemble/server/server.hpp"

#include "ensemble/cluster.hpp"

#include <utility>

namespace latchkey::model {

server::server(cluster& all, int index, std::shared_ptr<virtual_process> process)
    : all_(&all),
      index_(index),
      process_(std::move(process)),
      data_(all.how(),
            [this](connection& c, watch_event e, const std::string& path, bool replayed) {
                clients_.notify(c, e, path, replayed);
            }),
      clients_(all, *this, data_),
      patience_(*process_) {}

server::~server() = default;

void server::touch(std::int64_t session) {
    if (leader_ != nullptr) {
        leader_->sessions().touch(session);
    } else {
        touched_.insert(session);
    }
}

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
        if (t->what == transaction::kind::close_session) {
            touched_.erase(t->session);
        }
        clients_.committed(*t);
    }
}

void server::apply_all() {
    committed(last_logged());
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
    clients_.close_all();
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
    if (applied().zxid() != from.applied().zxid()) {
        data_.restore(from.applied());
    }
    log_ = from.log_;
    l->acked = applied().zxid();
    if (!log_.empty()) {
        acknowledge(log_.back()->zxid);
    }
    heard_leader_ = process_->now();
    be_patient();
}

}  // namespace latchkey::model

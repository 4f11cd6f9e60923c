#include "ensemble/server/leader.hpp"

#include "ensemble/cluster.hpp"
#include "ensemble/server/server.hpp"
#include "ensemble/server/znode_path.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::model {

peer_link::peer_link(server& l, server& f)
    : leading(&l), following(&f), up(l.process()), down(f.process()) {}

leader& leader_of(server& s) {
    return *s.leading();
}

leader::leader(cluster& all, server& self, std::int64_t epoch)
    : all_(&all),
      self_(&self),
      epoch_(epoch),
      last_zxid_(std::max(epoch << 32U, all.how().first_zxid)),
      proposed_(self.applied().as(tree::view::proposed)),
      sessions_(self.process(),
                all.how().tick,
                [this](std::int64_t session) { close_session(session, 0); }),
      beat_(self.process()),
      reaping_(self.process()) {
    // The new leader gives every living session a full timeout.
    for (const auto& [id, record] : self.applied().sessions()) {
        sessions_.add(id, record.timeout, session_tracker::nobody);
    }
    if (all.how().servers > 1) {
        beat_.start(all.how().tick / 2, [this] { beat(); });
    }
    schedule_reaping();
}

leader::~leader() {
    for (const link_ptr& l : followers_) {
        l->open = false;
        l->up.close();
        send(*l, [lost = l.get()](server& to) { to.leader_gone(*lost); });
    }
}

template <typename Tell>
void leader::send(peer_link& l, Tell tell) {
    l.send_follower(std::move(tell), all_->peer_latency() + all_->lag(l.following->index()));
}

void leader::add_follower(const link_ptr& l) {
    l->heard_at = half_ticks_;
    followers_.push_back(l);
}

void leader::lost_follower(const link_ptr& l) {
    l->open = false;
    std::erase(followers_, l);
    std::erase_if(waiting_syncs_, [&](const waiting_sync& s) { return s.to == l; });
}

void leader::submit(const forwarded& f, const link_ptr& from) {
    const int server = from == nullptr ? self_->index() : from->following->index();
    switch (f.what) {
        case forwarded::kind::write:
            return write(f, server);
        case forwarded::kind::sync:
            return sync(f, from);
        case forwarded::kind::open_session:
            return open_session(f, server);
        case forwarded::kind::revalidate:
            return revalidate(f, server, from);
        case forwarded::kind::close_session:
            return close_session(f.session, f.ticket);
    }
}

void leader::write(const forwarded& f, int from) {
    const result_code code = sessions_.check(f.session, from);
    transaction t;
    if (code == result_code::ok) {
        t = prepare(proposed_, f.body, {f.session, f.identities, false, all_->time()}, next_zxid());
    } else {
        t.zxid = next_zxid();
        t.session = f.session;
        t.asked = f.body.what;
        t.answer.code = code;
    }
    t.ticket = f.ticket;
    propose(std::move(t));
}

void leader::sync(const forwarded& f, const link_ptr& from) {
    const waiting_sync s{last_zxid_, from, f.session, f.ticket};
    if (self_->log().empty()) {
        answer_sync(s);
    } else {
        waiting_syncs_.push_back(s);
    }
}

void leader::answer_sync(const waiting_sync& s) {
    send(*s.to, [session = s.session, ticket = s.ticket](server& to) {
        to.clients().synced(session, ticket);
    });
}

void leader::open_session(const forwarded& f, int from) {
    sessions_.add(f.session, f.timeout, from);
    transaction t;
    t.what = transaction::kind::open_session;
    t.zxid = next_zxid();
    t.session = f.session;
    t.ticket = f.ticket;
    t.timeout = f.timeout;
    proposed_.apply_session(t);
    propose(std::move(t));
}

void leader::revalidate(const forwarded& f, int from, const link_ptr& link) {
    const bool valid = sessions_.touch(f.session);
    if (valid) {
        sessions_.own(f.session, from);
    }
    if (link == nullptr) {
        self_->clients().validated(f.ticket, valid);
    } else {
        send(*link,
             [ticket = f.ticket, valid](server& to) { to.clients().validated(ticket, valid); });
    }
}

void leader::close_session(std::int64_t session, std::uint64_t ticket) {
    sessions_.close(session);
    transaction t;
    t.what = transaction::kind::close_session;
    t.zxid = next_zxid();
    t.session = session;
    t.ticket = ticket;
    const auto record = proposed_.sessions().find(session);
    if (record != proposed_.sessions().end()) {
        for (const std::string& path : record->second.ephemerals) {
            change c;
            c.what = change::kind::remove;
            c.path = path;
            t.changes.push_back(std::move(c));
        }
    }
    for (const change& c : t.changes) {
        proposed_.apply(c, t.zxid);
    }
    proposed_.apply_session(t);
    propose(std::move(t));
}

void leader::expire(std::int64_t session) {
    if (sessions_.alive(session)) {
        close_session(session, 0);
    }
}

reply leader::operate(const request& r) {
    transaction t = prepare(proposed_, r, {0, {}, true, all_->time()}, next_zxid());
    reply answer = t.answer;
    propose(std::move(t));
    return answer;
}

void leader::operate(change c) {
    transaction t;
    t.zxid = next_zxid();
    proposed_.apply(c, t.zxid);
    t.changes.push_back(std::move(c));
    propose(std::move(t));
}

void leader::propose(transaction t) {
    all_->mark(static_cast<std::uint64_t>(t.zxid) ^ static_cast<std::uint64_t>(t.session));
    const auto p = std::make_shared<const transaction>(std::move(t));
    self_->proposed(p);
    for (const link_ptr& l : followers_) {
        send(*l, [p](server& to) { to.proposed(p); });
    }
    commit_what_can_be();
}

void leader::acked(const link_ptr& l, std::int64_t zxid) {
    l->acked = std::max(l->acked, zxid);
    commit_what_can_be();
}

void leader::commit_what_can_be() {
    while (!self_->log().empty()) {
        const transaction_ptr t = self_->log().front();
        const auto consenting =
            std::count_if(followers_.begin(), followers_.end(), [&](const link_ptr& l) {
                return l->acked >= t->zxid;
            });
        if (consenting + 1 < all_->majority()) {
            return;
        }
        for (const link_ptr& l : followers_) {
            send(*l, [zxid = t->zxid](server& to) { to.committed(zxid); });
        }
        self_->committed(t->zxid);
        committed(*t);
    }
}

void leader::committed(const transaction& t) {
    if (t.what == transaction::kind::close_session) {
        sessions_.remove(t.session);
    }
    for (const change& c : t.changes) {
        settle(c);
    }
    while (!waiting_syncs_.empty() && waiting_syncs_.front().zxid <= t.zxid) {
        answer_sync(waiting_syncs_.front());
        waiting_syncs_.erase(waiting_syncs_.begin());
    }
}

// Past the end of the sequence numbers, proposals and commits count differently, until no proposal
// is outstanding.
void leader::settle(const change& c) {
    if (c.what != change::kind::create || c.number >= 0) {
        return;
    }
    const std::string_view parent = parent_of(c.path);
    for (const transaction_ptr& outstanding : self_->log()) {
        for (const change& later : outstanding->changes) {
            if (later.what == change::kind::create && parent_of(later.path) == parent) {
                return;
            }
        }
    }
    if (const znode* const node = self_->applied().find(parent)) {
        proposed_.settle_counter(parent, node->counter);
    }
}

void leader::heard(const link_ptr& l, const std::vector<std::int64_t>& touched) {
    l->heard_at = half_ticks_;
    for (const std::int64_t session : touched) {
        sessions_.touch(session);
    }
}

void leader::beat() {
    beat_.start(all_->how().tick / 2, [this] { beat(); });
    ++half_ticks_;
    for (const link_ptr& l : followers_) {
        send(*l, [](server& to) { to.pinged(); });
    }
    if (half_ticks_ % 2 != 0) {
        return;
    }
    const auto synced = std::count_if(followers_.begin(), followers_.end(), [&](const link_ptr& l) {
        return half_ticks_ / 2 <= l->heard_at / 2 + all_->how().sync_limit;
    });
    if (synced + 1 < all_->majority()) {
        self_->look();  // this object is gone now
    }
}

void leader::reap_containers() {
    std::vector<std::string> empty;
    for (const std::string& path : proposed_.containers()) {
        const znode* const node = proposed_.find(path);
        if (node->children.empty() && node->counter != 0) {
            empty.push_back(path);
        }
    }
    std::sort(empty.begin(), empty.end());
    for (std::string& path : empty) {
        operate(request::remove(std::move(path)));
    }
}

void leader::schedule_reaping() {
    if (all_->how().container_interval <= settings::duration::zero()) {
        return;
    }
    reaping_.start(all_->how().container_interval, [this] {
        schedule_reaping();
        reap_containers();
    });
}

}  // namespace latchkey::model

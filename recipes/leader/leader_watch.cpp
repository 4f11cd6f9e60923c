#include "leader/leader_watch.hpp"

#include "text/path.hpp"

#include <algorithm>
#include <utility>

#include <boost/thread/lock_guard.hpp>

namespace latchkey {

leader_watch::leader_watch(std::shared_ptr<client_core> core,
                           std::string directory,
                           leader_observer::listener listener)
    : core_(std::move(core)),
      directory_(std::move(directory)),
      listener_(core_->callbacks().keep(std::move(listener))),
      again_(core_->loop()) {}

void leader_watch::start() {
    if (core_->closed_why()) {
        return;
    }
    core_->attach(shared_from_this());
    if (core_->connected()) {
        session_connected();
    }
}

void leader_watch::end() noexcept {
    {
        const boost::lock_guard<boost::recursive_mutex> lock(calling_);
        over_ = true;
    }
    core_->post([self = shared_from_this()] { self->client_closed({}); });
}

std::optional<leader_info> leader_watch::current() const {
    const monitor_lock lock(guard_);
    return current_;
}

// ---- the session ----

/// This connection shows nothing older than the connections before it: its first request was a
/// write, or opened a session, which is a write too.
void leader_watch::session_connected() {
    forget();
    look();
}

void leader_watch::session_ended(loss) {
    forget();
}

void leader_watch::client_closed(const failure&) {
    const auto self = shared_from_this();
    forget();
    core_->detach(this);
}

void leader_watch::forget() {
    ++step_;
    again_.cancel();
    head_.end();
    published_.end();
    vacancy_.reset();
}

// ---- the first in the queue ----

void leader_watch::look() {
    ++step_;
    again_.cancel();
    head_.end();
    vacancy_.reset();
    core_->submit(request::children(directory_), here([this](const reply& r) { on_listed(r); }));
}

/// Nothing more can be learned before that. Without a connection, not before the next one.
void leader_watch::look_later() {
    ++step_;
    head_.end();
    vacancy_.reset();
    again_.later([this] {
        if (core_->connected()) {
            look();
        }
    });
}

void leader_watch::on_listed(const reply& r) {
    if (r.code == result_code::no_node) {
        // A directory that does not exist cannot be watched.
        core_->create_directories(directory_, core_->access(), [](const reply&) {});
        tell(std::nullopt);
        look_later();
        return;
    }
    if (!r.ok()) {
        look_later();
        return;
    }
    if (!published_.begun()) {
        published_.begin(directory_);
    }
    const auto heads = heads_of(r.names);
    if (heads.empty()) {
        on_nobody_listed();
    } else if (heads.size() == 1) {
        follow(heads.front());
    } else {
        settle(heads);
    }
}

/// Lists once more, with a watch. While a candidate leads there must be no such watch, because
/// every candidate that comes or goes would trigger it.
void leader_watch::on_nobody_listed() {
    ++step_;
    if (vacancy_) {
        tell(std::nullopt);
        return;
    }
    vacancy_ = std::make_shared<session::watcher>([weak = weak_from_this()](watch_event) {
        if (const auto self = weak.lock()) {
            self->look();
        }
    });
    core_->submit(request::children(directory_), vacancy_, here([this](const reply& r) {
                      if (r.ok() && heads_of(r.names).empty()) {
                          on_nobody_listed();
                      } else {
                          vacancy_.reset();
                          on_listed(r);
                      }
                  }));
}

/// Two znodes with one number: the leader's, and that of its successor, which is the younger.
void leader_watch::settle(const std::vector<std::string>& heads) {
    ++step_;

    struct found {
        std::string name;
        std::int64_t czxid = 0;
    };

    const auto oldest = std::make_shared<std::optional<found>>();
    for (const std::string& name : heads) {
        const bool last = name == heads.back();
        core_->submit(request::get(join_path(directory_, name)),
                      here([this, name, oldest, last](const reply& r) {
                          if (r.ok() && (!*oldest || r.stat.czxid < (*oldest)->czxid)) {
                              *oldest = found{name, r.stat.czxid};
                          }
                          if (last && *oldest) {
                              follow((*oldest)->name);
                          } else if (last) {
                              look_later();
                          }
                      }));
    }
}

void leader_watch::follow(const std::string& name) {
    ++step_;
    vacancy_.reset();
    head_path_ = join_path(directory_, name);
    head_.begin(head_path_);
}

// ---- what is watched ----

void leader_watch::watched::begin(const std::string& path) {
    last_.reset();
    znode_watch::observer& self = *this;
    watch_ = std::make_shared<znode_watch>(of_->core_, path, self);
    watch_->arm();
}

void leader_watch::watched::end() {
    watch_.reset();
    last_.reset();
}

void leader_watch::watched::on_watch_set(const znode_stat& stat, const std::string& data) {
    reply r;
    r.data = data;
    r.stat = stat;
    note(std::move(r));
}

void leader_watch::watched::on_znode_deleted() {
    reply r;
    r.code = result_code::no_node;
    note(std::move(r));
}

void leader_watch::watched::on_watch_refused(result_code code) {
    reply r;
    r.code = code;
    note(std::move(r));
}

void leader_watch::watched::note(reply r) {
    const auto keep = of_->shared_from_this();
    last_ = std::move(r);
    (of_->*seen_)(*last_);
}

void leader_watch::on_head(const reply& r) {
    if (r.code == result_code::no_node) {
        tell(std::nullopt);
        if (head_.saw_deletion()) {
            look();
        } else {
            head_.end();  // later answers about the record are about no leader
            again_.soon([this] { core_->connected() ? look() : void(); });
        }
        return;
    }
    if (r.ok()) {
        tell_leader();
        return;
    }
    if (r.code == result_code::no_auth) {
        tell_leader();  // reports that there is one
    }
    look_later();
}

void leader_watch::on_directory(const reply& r) {
    const result_code code = r.code;
    if (code != result_code::ok) {
        published_.end();  // begins again with the next list
    }
    if (code != result_code::ok && code != result_code::no_node && code != result_code::no_auth) {
        look_later();
    } else if (head_.last()) {
        tell_leader();
    }
}

// ---- reports ----

void leader_watch::tell_leader() {
    if (!published_.last() && published_.begun()) {
        return;  // the record is being read
    }
    tell(leader_from(head_path_, *head_.last(), published_.last().value_or(reply{})));
}

void leader_watch::tell(std::optional<leader_info> now) {
    {
        const monitor_lock lock(guard_);
        if (std::exchange(told_, true) && now == current_) {
            return;
        }
        if (now && current_ && now->path != current_->path) {
            // The znode has gone, otherwise it would still be the first.
            core_->call([self = shared_from_this()] { self->call_listener(std::nullopt); });
        }
        current_ = now;
    }
    core_->call([self = shared_from_this(), now = std::move(now)] { self->call_listener(now); });
}

void leader_watch::call_listener(const std::optional<leader_info>& now) {
    const boost::lock_guard<boost::recursive_mutex> lock(calling_);
    if (!over_ && *listener_) {
        (*listener_)(now);
    }
}

}  // namespace latchkey

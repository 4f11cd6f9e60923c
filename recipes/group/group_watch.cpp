#include "group/group_watch.hpp"

#include "text/path.hpp"

#include <algorithm>
#include <utility>

namespace latchkey {

group_watch::group_watch(std::shared_ptr<client_core> core,
                         std::string directory,
                         std::chrono::nanoseconds pause,
                         group::members_listener listener)
    : core_(std::move(core)),
      directory_(std::move(directory)),
      pause_(pause),
      listener_(core_->callbacks().keep(std::move(listener))),
      gathers_(core_->loop()),
      again_(core_->loop()) {}

void group_watch::start() {
    if (core_->closed_why()) {
        return;
    }
    core_->attach(shared_from_this());
    if (core_->connected()) {
        list();
    }
}

void group_watch::end() noexcept {
    calls_.end();
    core_->post([self = shared_from_this()] { self->client_closed({}); });
}

void group_watch::session_connected() {
    for (auto& [name, e] : entries_) {
        e.watcher = nullptr;  // it ended with its connection
    }
    list();
}

/// The watches are gone with the session.
void group_watch::session_ended(loss) {
    entries_.clear();
    unread_ = 0;
    watcher_.reset();
    listed_ = false;
}

void group_watch::client_closed(const failure&) {
    const auto self = shared_from_this();
    gathers_.cancel();
    again_.cancel();
    session_ended(loss::none);
    core_->detach(this);
}

// ---- the names ----

void group_watch::list() {
    gathers_.cancel();
    again_.cancel();
    watcher_ = std::make_shared<session::watcher>([weak = weak_from_this()](watch_event) {
        if (const auto self = weak.lock()) {
            self->list_soon();
        }
    });
    core_->submit(request::children(directory_),
                  watcher_,
                  [weak = weak_from_this(), set = std::weak_ptr(watcher_)](reply r) {
                      const auto self = weak.lock();
                      if (self && set.lock() && set.lock() == self->watcher_) {
                          self->on_listed(std::move(r));
                      }
                  });
}

void group_watch::on_listed(reply r) {
    if (r.ok()) {
        merge(std::move(r.names));
        listed_ = true;
        tell();
        return;
    }
    if (r.code == result_code::no_node) {
        // A directory that does not exist cannot be watched. It is created, and is an empty group.
        core_->create_directories(directory_, core_->access(), [](const reply&) {});
    }
    list_later();
}

/// Both are sorted, so one pass is enough.
void group_watch::merge(std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    auto e = entries_.begin();
    for (std::string& name : names) {
        while (e != entries_.end() && e->first < name) {
            e = forget(e);
        }
        if (e == entries_.end() || e->first != name) {
            e = entries_.emplace_hint(e, std::move(name), entry());
            ++unread_;
        }
        if (!e->second.known || !e->second.watcher) {
            read(e);
        }
        ++e;
    }
    while (e != entries_.end()) {
        e = forget(e);
    }
}

group_watch::entries::iterator group_watch::forget(entries::iterator e) {
    unread_ -= e->second.known ? 0 : 1;
    return entries_.erase(e);
}

/// One list for all changes within the pause.
void group_watch::list_soon() {
    if (pause_ <= std::chrono::nanoseconds::zero()) {
        list();
    } else if (!gathers_.running()) {
        gathers_.start(pause_, [this] {
            if (core_->connected()) {
                list();
            }
        });
    }
}

/// After a refusal, or an answer that leaves the outcome open. Without a connection, with the next
/// one.
void group_watch::list_later() {
    if (!again_.running()) {
        again_.later([this] {
            if (core_->connected()) {
                list();
            }
        });
    }
}

// ---- a member ----

void group_watch::read(entries::iterator e) {
    const auto found = [](group_watch& r, const std::string& name, const auto& set) {
        const auto at = r.entries_.find(name);
        return at != r.entries_.end() && set.lock() == at->second.watcher ? at : r.entries_.end();
    };
    const std::string& name = e->first;
    e->second.watcher =
        std::make_shared<session::watcher>([weak = weak_from_this(), name](watch_event what) {
            const auto self = weak.lock();
            const auto at = self ? self->entries_.find(name) : decltype(self->entries_.end())();
            if (!self || at == self->entries_.end()) {
                return;
            }
            if (what == watch_event::deleted) {
                self->forget(at);
                self->tell();
            } else {
                self->read(at);
            }
        });
    core_->submit(
        request::get(join_path(directory_, name)),
        e->second.watcher,
        [weak = weak_from_this(), name, found, set = std::weak_ptr(e->second.watcher)](reply r) {
            const auto self = weak.lock();
            if (!self) {
                return;
            }
            if (const auto at = found(*self, name, set); at != self->entries_.end()) {
                self->on_read(at, std::move(r));
            }
        });
}

void group_watch::on_read(entries::iterator e, reply r) {
    if (r.ok()) {
        know(e,
             {.name = e->first,
              .data = std::move(r.data),
              .session_id = r.stat.ephemeral_owner,
              .czxid = r.stat.czxid,
              .version = r.stat.version});
    } else if (r.code == result_code::no_node) {
        forget(e);
    } else if (r.code == result_code::no_auth) {
        // No event will report when the permission changes: it is read again with the next list.
        know(e, {.name = e->first, .data = {}});
        e->second.watcher.reset();
    } else {
        unread_ += e->second.known ? 1 : 0;
        e->second.known.reset();
        list_later();
    }
    tell();
}

void group_watch::know(entries::iterator e, member m) {
    unread_ -= e->second.known ? 0 : 1;
    if (!e->second.known || *e->second.known != m) {
        e->second.known = std::make_shared<const member>(std::move(m));
    }
}

/// Reports the members when all are known and differ from what was reported before.
void group_watch::tell() {
    if (!listed_ || unread_ > 0) {
        return;
    }
    std::vector<known_member> now;
    now.reserve(entries_.size());
    for (const auto& [name, e] : entries_) {
        now.push_back(e.known);
    }
    const auto same = [](const known_member& one, const known_member& other) {
        return one == other || *one == *other;
    };
    if (told_ && std::equal(told_->begin(), told_->end(), now.begin(), now.end(), same)) {
        return;
    }
    told_ = now;
    core_->call([self = shared_from_this(), now = std::move(now)] { self->call_listener(now); });
}

void group_watch::call_listener(const std::vector<known_member>& now) {
    calls_.call([&] {
        std::vector<member> all;
        all.reserve(now.size());
        for (const known_member& m : now) {
            all.push_back(*m);
        }
        (*listener_)(all);
    });
}

}  // namespace latchkey

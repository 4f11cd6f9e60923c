#include "group/group_watch.hpp"

#include "text/path.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v0 {

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
        e.watched = false;  // the watch ended with its connection
        e.following.drop();
    }
    list();
}

/// The watches are gone with the session.
void group_watch::session_ended(loss_reason) {
    entries_.clear();
    unread_ = 0;
    listing_.drop();
    listed_ = false;
}

void group_watch::client_closed(const failure&) {
    const auto self = shared_from_this();
    gathers_.cancel();
    again_.cancel();
    session_ended(loss_reason::none);
    core_->detach(this);
}

// ---- the names ----

void group_watch::list() {
    gathers_.cancel();
    again_.cancel();
    listing_.start(follow_names(), [this](result_code end) {
        if (end == result_code::ok) {
            list_soon();
            return;
        }
        if (end == result_code::no_node) {
            // A directory that does not exist cannot be watched. It is created, and is an empty
            // group.
            static_cast<void>(core_->create_directories(directory_, *core_->access()));
        }
        list_later();
    });
}

/// Ends with `ok` when the names have changed.
task<result_code> group_watch::follow_names() {
    const change_watch watch;
    auto asked = watch.send(*core_, request::children(directory_));
    reply r = co_await asked;
    if (!r.ok()) {
        co_return r.code;
    }
    merge(std::move(r.names));
    listed_ = true;
    tell();
    auto changed = watch.until_changed(*core_);
    co_await changed;
    co_return result_code::ok;
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
            e = entries_.try_emplace(e, std::move(name));
            ++unread_;
        }
        if (!e->second.known || !e->second.watched) {
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
    e->second.watched = true;
    e->second.following.start(follow(e->first), [this, name = e->first](result_code end) {
        on_unwatched(entries_.find(name), end);
    });
}

/// Ends with `no_node` when the member has left, or with what else keeps it from being watched.
task<result_code> group_watch::follow(std::string name) {
    const std::string path = join_path(directory_, name);
    while (true) {
        const change_watch watch;
        auto asked = watch.send(*core_, request::get(path));
        reply r = co_await asked;
        if (!r.ok()) {
            co_return r.code;
        }
        know(entries_.find(name),
             {.name = name,
              .data = std::move(r.data),
              .session_id = r.stat.ephemeral_owner,
              .czxid = r.stat.czxid,
              .version = r.stat.version});
        tell();
        auto changed = watch.until_changed(*core_);
        co_await changed;
        if (watch.event() == watch_event::deleted) {
            co_return result_code::no_node;
        }
    }
}

void group_watch::on_unwatched(entries::iterator e, result_code end) {
    if (end == result_code::no_node) {
        forget(e);
    } else if (end == result_code::no_auth) {
        // No event will report when the permission changes: it is read again with the next list.
        know(e, {.name = e->first, .data = {}});
        e->second.watched = false;
    } else {
        unread_ += e->second.known ? 1 : 0;
        e->second.known.reset();
        list_later();
    }
    tell();
}

void group_watch::know(entries::iterator e, group_member m) {
    unread_ -= e->second.known ? 0 : 1;
    if (!e->second.known || *e->second.known != m) {
        e->second.known = std::make_shared<const group_member>(std::move(m));
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
        std::vector<group_member> all;
        all.reserve(now.size());
        for (const known_member& m : now) {
            all.push_back(*m);
        }
        (*listener_)(all);
    });
}

}  // namespace latchkey::inline v0

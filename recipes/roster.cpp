#include "roster.hpp"

#include "path.hpp"

#include <algorithm>
#include <utility>

#include <boost/thread/lock_guard.hpp>

namespace latchkey {

roster::roster(std::shared_ptr<client_core> core,
               std::string directory,
               std::chrono::nanoseconds pause,
               group::members_listener listener)
    : core_(std::move(core)),
      directory_(std::move(directory)),
      pause_(pause),
      listener_(std::move(listener)),
      again_(core_->loop()) {}

void roster::start() {
    if (core_->closed_why()) {
        return;
    }
    core_->attach(shared_from_this());
    if (core_->connected()) {
        list();
    }
}

void roster::end() noexcept {
    {
        const boost::lock_guard<boost::recursive_mutex> lock(calling_);
        over_ = true;
    }
    core_->post([self = shared_from_this()] { self->client_closed({}); });
}

void roster::session_connected() {
    list();
}

/// Its watches are gone with it.
void roster::session_ended(loss) {
    entries_.clear();
    watcher_.reset();
    listed_ = false;
}

void roster::client_closed(const failure&) {
    const auto self = shared_from_this();
    again_.cancel();
    session_ended(loss::none);
    core_->detach(this);
}

// ---- the names ----

void roster::list() {
    watcher_ = std::make_shared<session::watcher>([weak = weak_from_this()](watch_event) {
        if (const auto self = weak.lock()) {
            self->list_later(self->pause_);
        }
    });
    core_->submit(request::children(directory_),
                  watcher_,
                  [weak = weak_from_this(), set = std::weak_ptr(watcher_)](const reply& r) {
                      const auto self = weak.lock();
                      if (self && set.lock() && set.lock() == self->watcher_) {
                          self->on_listed(r);
                      }
                  });
}

void roster::on_listed(const reply& r) {
    if (r.code == result_code::no_node) {
        // Without the directory there is nothing to watch. It is made, and is an empty group.
        core_->create_directories(directory_, core_->access(), [](const reply&) {});
        list_later(backoff_.next(core_->loop().random()));
        return;
    }
    if (!r.ok()) {
        list_again();
        return;
    }
    backoff_.reset();
    listed_ = true;
    std::erase_if(entries_, [&r](const auto& e) {
        return std::find(r.names.begin(), r.names.end(), e.first) == r.names.end();
    });
    for (const std::string& name : r.names) {
        const entry& e = entries_[name];
        if (!e.known || !e.watcher) {
            read(name);
        }
    }
    tell();
}

void roster::list_later(std::chrono::nanoseconds after) {
    if (after <= std::chrono::nanoseconds::zero()) {
        list();
    } else if (!again_.running()) {
        again_.start(after, [this] {
            if (core_->connected()) {
                list();
            }
        });
    }
}

/// After a refusal, or an answer that leaves it open: later, or with the next connection.
void roster::list_again() {
    if (core_->connected()) {
        list_later(backoff_.next(core_->loop().random()));
    }
}

// ---- a member ----

void roster::read(const std::string& name) {
    entry& e = entries_[name];
    e.watcher =
        std::make_shared<session::watcher>([weak = weak_from_this(), name](watch_event what) {
            const auto self = weak.lock();
            if (!self || !self->entries_.contains(name)) {
                return;
            }
            if (what == watch_event::deleted) {
                self->entries_.erase(name);
                self->tell();
            } else {
                self->read(name);
            }
        });
    core_->submit(
        request::get(join_path(directory_, name)),
        e.watcher,
        [weak = weak_from_this(), name, set = std::weak_ptr(e.watcher)](const reply& r) {
            const auto self = weak.lock();
            const auto found = self ? self->entries_.find(name) : decltype(self->entries_.end())();
            if (self && found != self->entries_.end() && set.lock() == found->second.watcher) {
                self->on_read(name, r);
            }
        });
}

void roster::on_read(const std::string& name, const reply& r) {
    if (r.ok()) {
        entries_[name].known = member{.name = name,
                                      .data = r.data,
                                      .session_id = r.stat.ephemeral_owner,
                                      .czxid = r.stat.czxid,
                                      .version = r.stat.version};
    } else if (r.code == result_code::no_node) {
        entries_.erase(name);
    } else if (r.code == result_code::no_auth) {
        // Nothing tells when that changes: it is read again with the next list.
        entries_[name] = {.known = member{.name = name, .data = {}}, .watcher = nullptr};
    } else {
        entries_[name].known.reset();
        list_again();
    }
    tell();
}

/// When everything is known, and differs from what was told.
void roster::tell() {
    std::vector<member> now;
    for (const auto& [name, e] : entries_) {
        if (!e.known) {
            return;
        }
        now.push_back(*e.known);
    }
    if (!listed_ || told_ == now) {
        return;
    }
    told_ = now;
    core_->call([self = shared_from_this(), now = std::move(now)] { self->call_listener(now); });
}

void roster::call_listener(const std::vector<member>& now) {
    const boost::lock_guard<boost::recursive_mutex> lock(calling_);
    if (!over_) {
        listener_(now);
    }
}

}  // namespace latchkey

#include "leader/leader_watch.hpp"

#include "text/path.hpp"
#include "znode/change_watch.hpp"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {

leader_watch::leader_watch(std::shared_ptr<client_core> core, std::string directory)
    : core_(std::move(core)), directory_(std::move(directory)), again_(core_->loop()) {}

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
    for (const auto& r : listeners()) {
        r->calls.end();
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

void leader_watch::session_ended(loss_reason) {
    forget();
}

void leader_watch::client_closed(const failure&) {
    const auto self = shared_from_this();
    forget();
    core_->detach(this);
}

void leader_watch::forget() {
    looking_.drop();
    again_.cancel();
    head_.end();
    published_.end();
}

// ---- the first in the queue ----

void leader_watch::look() {
    again_.cancel();
    look(false);
}

/// Nothing more can be learned before that. Without a connection, not before the next one.
void leader_watch::look_later() {
    look(true);
}

void leader_watch::look(bool later) {
    head_.end();
    looking_.start(find_head(later), [this](const std::string& name) {
        // The directory may have been made anew since the first list.
        follow_record();
        head_path_ = join_path(directory_, name);
        head_.begin(head_path_);
    });
}

task<std::string> leader_watch::find_head(bool later) {
    while (true) {
        if (std::exchange(later, true)) {
            auto pause = again_.pause();
            co_await pause;
        }
        auto connected = core_->connection_made();
        co_await connected;
        auto listed = core_->send(request::children(directory_));
        reply list = co_await listed;
        auto heads = heads_of(list.names);
        if (list.ok()) {
            follow_record();
        }
        if (list.ok() && heads.empty()) {
            // Once more, with a watch. While a candidate leads there must be no such watch, because
            // every candidate that comes or goes would trigger it.
            const change_watch vacancy;
            auto listed_again = vacancy.send(*core_, request::children(directory_));
            list = co_await listed_again;
            heads = heads_of(list.names);
            if (list.ok() && heads.empty()) {
                tell(std::nullopt);
                auto vacancy_ends = vacancy.until_changed(*core_);
                co_await vacancy_ends;
                later = false;
                continue;
            }
        }
        if (list.code == result_code::no_node) {
            // A directory that does not exist cannot be watched.
            static_cast<void>(core_->create_directories(directory_, *core_->access()));
            tell(std::nullopt);
        }
        if (!list.ok()) {
            continue;
        }
        if (heads.size() == 1) {
            co_return heads.front();
        }
        // Two znodes with one number: the leader's, and that of its successor, which is the
        // younger.
        std::vector<oneshot<reply>> asked;
        for (const std::string& name : heads) {
            asked.push_back(core_->send(request::get(join_path(directory_, name))));
        }
        std::map<std::int64_t, std::string> by_czxid;
        bool known = true;
        for (std::size_t i = 0; i < asked.size(); ++i) {
            auto& one = asked[i];
            const reply r = co_await one;
            if (r.ok()) {
                by_czxid.emplace(r.stat.czxid, heads[i]);
            } else {
                known = known && r.code == result_code::no_node;
            }
        }
        if (known && !by_czxid.empty()) {
            co_return by_czxid.begin()->second;
        }
    }
}

// ---- what is watched ----

void leader_watch::follow_record() {
    if (!published_.begun()) {
        published_.begin(directory_);
    }
}

void leader_watch::watched::begin(const std::string& path) {
    last_.reset();
    znode_watch::observer& self = *this;
    watch_ = std::make_shared<znode_watch>(*of_->core_, path, self);
    watch_->arm();
}

void leader_watch::watched::end() {
    watch_.reset();
    last_.reset();
}

void leader_watch::watched::on_watch_set(const server_stat& stat, const std::string& data) {
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
    const monitor_lock lock(guard_);
    if (std::exchange(told_, true) && now == current_) {
        return;
    }
    if (now && current_ && now->path != current_->path) {
        // The znode has gone, otherwise it would still be the first.
        tell_listeners(std::nullopt);
    }
    current_ = std::move(now);
    tell_listeners(current_);
}

void leader_watch::tell_listeners(const std::optional<leader_info>& now) {
    for (const auto& weak : registered_) {
        if (auto r = weak.lock()) {
            core_->call([r = std::move(r), now] { r->call(now); });
        }
    }
}

void leader_watch::registration::call(const std::optional<leader_info>& now) {
    calls.call([&] {
        if (*listener) {
            (*listener)(now);
        }
    });
}

std::shared_ptr<void> leader_watch::add(leader_observer::listener l) {
    const auto added = std::make_shared<registration>(core_->callbacks().keep(std::move(l)));
    const monitor_lock lock(guard_);
    std::erase_if(registered_, [](const auto& weak) { return weak.expired(); });
    registered_.push_back(added);
    if (told_) {
        core_->call([added, now = current_] { added->call(now); });
    }
    return {added.get(), [added, core = core_](void*) {
                if (!core->forked()) {
                    added->calls.end();
                }
            }};
}

std::vector<std::shared_ptr<leader_watch::registration>> leader_watch::listeners() const {
    std::vector<std::shared_ptr<registration>> all;
    const monitor_lock lock(guard_);
    for (const auto& weak : registered_) {
        if (auto r = weak.lock()) {
            all.push_back(std::move(r));
        }
    }
    return all;
}

}  // namespace latchkey::inline v0

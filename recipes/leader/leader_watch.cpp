#include "leader/leader_watch.hpp"

#include "text/path.hpp"

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
    following_.start(follow(), [](bool) {});
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

void leader_watch::client_closed(const failure&) {
    const auto self = shared_from_this();
    following_.drop();
    record_.reset();  // the task may have waited for its answer
    again_.cancel();
    core_->detach(this);
}

// ---- what is watched ----

/// Until it is dropped. A connection shows nothing older than the connections before it: its first
/// request was a write, or opened a session, which is a write too.
task<bool> leader_watch::follow() {
    pace next = pace::at_once;
    while (true) {
        if (next == pace::soon) {
            auto pause = again_.short_pause();
            co_await pause;
        } else if (next == pace::later && core_->connected()) {
            auto pause = again_.pause();
            co_await pause;
        }
        next = pace::later;
        auto connected = core_->connection_made();
        co_await connected;
        auto finding = find_head();
        const std::string head = co_await finding;
        if (!head.empty()) {
            auto leading = follow_leader(join_path(directory_, head));
            next = co_await leading;
        }
    }
}

/// The name of the first in the queue; empty if that is not known. Waits while there is none.
task<std::string> leader_watch::find_head() {
    auto listed = core_->send(request::children(directory_));
    reply list = co_await listed;
    if (list.ok()) {
        read_record();
    }
    // Once more, with a watch. While a candidate leads there must be no such watch, because every
    // candidate that comes or goes would trigger it.
    while (list.ok() && heads_of(list.names).empty()) {
        const change_watch vacancy;
        auto listed_again = vacancy.send(*core_, request::children(directory_));
        list = co_await listed_again;
        if (list.ok() && heads_of(list.names).empty()) {
            tell(std::nullopt);
            auto vacancy_ends = vacancy.until_changed(*core_);
            co_await vacancy_ends;
            auto listed_after = core_->send(request::children(directory_));
            list = co_await listed_after;
        }
    }
    if (list.code == result_code::no_node) {
        // A directory that does not exist cannot be watched.
        static_cast<void>(core_->create_directories(directory_, *core_->access()));
        tell(std::nullopt);
    }
    if (!list.ok()) {
        co_return std::string();
    }
    auto looking = oldest_of(heads_of(list.names));
    std::string head = co_await looking;
    co_return head;
}

/// Two znodes with one number are the leader's, and that of its successor, which is the younger.
task<std::string> leader_watch::oldest_of(std::vector<std::string> heads) {
    if (heads.size() == 1) {
        co_return heads.front();
    }
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
    co_return known && !by_czxid.empty() ? by_czxid.begin()->second : std::string();
}

leader_watch::followed leader_watch::read(const std::string& path) const {
    const change_watch watch;
    auto asked = watch.send(*core_, request::get(path));
    return {.watch = watch, .asked = std::move(asked), .connection = core_->connection()};
}

void leader_watch::read_record() {
    const bool was_read = record_ && (!record_->seen || record_->seen->ok());
    if (!was_read || record_->is_out_of_date(*core_)) {
        record_.emplace(read(directory_));
    }
}

/// Until its znode is gone, or cannot be watched.
task<leader_watch::pace> leader_watch::follow_leader(std::string path) {
    std::optional<followed> head;
    while (true) {
        read_record();
        if (!head) {
            head.emplace(read(path));
        }
        for (followed* const one : {&*record_, &*head}) {
            if (!one->seen) {
                auto& asked = one->asked;
                one->seen = co_await asked;
            }
        }
        const reply& leader = *head->seen;
        const reply& published = *record_->seen;
        if (leader.code == result_code::no_node) {
            tell(std::nullopt);
            co_return pace::soon;
        }
        const bool unreadable = published.code == result_code::no_auth;
        if ((!leader.ok() && leader.code != result_code::no_auth) ||
            (!published.tells_whether_there() && !unreadable)) {
            record_.reset();
            co_return pace::later;
        }
        tell(leader_from(path, leader, published.ok() ? published : reply{}));
        if (!leader.ok()) {
            co_return pace::later;
        }
        auto changed = head->watch.until_either_changes(*core_, record_->watch);
        co_await changed;
        if (head->watch.event() == watch_event::deleted) {
            tell(std::nullopt);
            co_return pace::at_once;
        }
        if (head->connection != core_->connection()) {
            co_return pace::at_once;
        }
        if (head->watch.has_fired()) {
            head.reset();
        }
    }
}

// ---- reports ----

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

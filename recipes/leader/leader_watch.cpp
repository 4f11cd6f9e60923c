#include "leader/leader_watch.hpp"

#include "client/until_answered.hpp"
#include "leader/leader_record.hpp"
#include "queue/queue_order.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v0 {

std::vector<std::string> heads_of(const std::vector<std::string>& names) {
    std::vector<std::string> ordered = in_order(names, candidate_names);
    const auto second = std::find_if(ordered.begin(), ordered.end(), [&](const std::string& name) {
        return place_of(name, candidate_names).sequence !=
               place_of(ordered.front(), candidate_names).sequence;
    });
    ordered.erase(second, ordered.end());
    return ordered;
}

std::optional<std::size_t> oldest_of(const std::vector<reply>& heads) {
    std::optional<std::size_t> oldest;
    for (std::size_t i = 0; i < heads.size(); ++i) {
        if (heads[i].ok() && (!oldest || heads[i].stat.czxid < heads[*oldest].stat.czxid)) {
            oldest = i;
        }
    }
    return oldest;
}

leader_watch::leader_watch(std::shared_ptr<client_core> core, std::string directory)
    : session_task(std::move(core)), directory_(std::move(directory)), listeners_(core_) {}

/// In one session, until it is dropped. A connection shows nothing older than the connections
/// before it: its first request was a write, or opened a session, which is a write too.
task<bool> leader_watch::follow() {
    std::optional<watched> record;
    paced_retry again(core_->loop());
    while (true) {
        auto connected = core_->connection_made();
        co_await connected;
        auto finding = find_head(record);
        const std::string head = co_await finding;
        bool gone = false;
        if (!head.empty()) {
            auto leading = follow_leader(join_path(directory_, head), record, again);
            gone = co_await leading;
        }
        if (!gone) {
            auto pause = core_->pause(again);
            co_await pause;
        }
    }
}

/// The name of the first in the queue; empty if that is not known. Waits while there is none.
task<std::string> leader_watch::find_head(std::optional<watched>& record) {
    auto listed = core_->send(request::children(directory_));
    reply list = co_await listed;
    if (list.ok()) {
        read(record, directory_);
    }
    // Once more, with a watch. While a candidate leads there must be no such watch, because every
    // candidate that comes or goes would trigger it.
    while (list.ok() && heads_of(list.names).empty()) {
        const change_watch vacancy;
        auto listed_again = vacancy.send(*core_, request::children(directory_));
        list = co_await listed_again;
        if (list.ok() && heads_of(list.names).empty()) {
            notify(std::nullopt);
            auto vacancy_ends = vacancy.until_changed(*core_);
            co_await vacancy_ends;
            auto listed_after = core_->send(request::children(directory_));
            list = co_await listed_after;
        }
    }
    if (list.code == result_code::no_node) {
        // A directory that does not exist cannot be watched.
        static_cast<void>(core_->create_directories(directory_, *core_->access()));
        notify(std::nullopt);
    }
    const auto heads = list.ok() ? heads_of(list.names) : std::vector<std::string>();
    if (heads.size() < 2) {
        co_return heads.empty() ? std::string() : heads.front();
    }
    auto reading = read_all(*core_, paths_in(directory_, heads));
    const std::vector<reply> znodes = co_await reading;
    const auto oldest = oldest_of(znodes);
    const bool known = std::ranges::all_of(znodes, &reply::tells_whether_there);
    co_return oldest&& known ? heads[*oldest] : std::string();
}

/// Reads it, with a watch, unless what was read before is still so.
void leader_watch::read(std::optional<watched>& znode, const std::string& path) const {
    if (!znode || znode->watch.has_fired() || znode->connection != core_->connection() ||
        (znode->seen && !znode->seen->ok())) {
        const change_watch watch;
        auto asked = watch.send(*core_, request::get(path));
        znode.emplace(
            watched{.watch = watch, .asked = std::move(asked), .connection = core_->connection()});
    }
}

/// Ends when its znode is gone, or the connection; or, with false, if it cannot be watched.
task<bool> leader_watch::follow_leader(std::string path,
                                       std::optional<watched>& record,
                                       paced_retry& again) {
    std::optional<watched> head;
    while (true) {
        read(record, directory_);
        read(head, path);
        for (watched* const one : {&*record, &*head}) {
            if (!one->seen) {
                auto& asked = one->asked;
                one->seen = co_await asked;
            }
        }
        const reply& leader = *head->seen;
        const reply& published = *record->seen;
        if (leader.code == result_code::no_node) {
            notify(std::nullopt);
            auto pause = again.short_pause();
            co_await pause;
            co_return true;
        }
        // A directory that was not there when it was read, and is there now, is not watched.
        if ((!leader.ok() && leader.code != result_code::no_auth) ||
            (!published.ok() && published.code != result_code::no_auth)) {
            record.reset();
            co_return false;
        }
        notify(leader_from(path, leader, published.ok() ? published : reply{}));
        if (!leader.ok()) {
            co_return false;
        }
        auto changed = head->watch.until_either_changes(*core_, record->watch);
        co_await changed;
        if (head->watch.event() == watch_event::deleted) {
            notify(std::nullopt);
            co_return true;
        }
        if (head->connection != core_->connection()) {
            co_return true;
        }
    }
}

void leader_watch::notify(std::optional<leader_info> now) {
    const auto before = current();
    if (std::exchange(told_, true) && now == before) {
        return;
    }
    if (now && before && now->path != before->path) {
        notify(std::nullopt);  // its znode has gone, otherwise it would still be the first
    }
    {
        const monitor_lock lock(guard_);
        current_ = now;
    }
    listeners_.notify([now = std::move(now)](const listener& l) { call_if_given(l, now); }, true);
}

}  // namespace latchkey::inline v0

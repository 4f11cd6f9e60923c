#include "group/group_watch.hpp"

#include "loop/paced_retry.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace latchkey::inline v0 {

/// In one session, until it is dropped: lists, reads what has changed, and reports the members.
task<bool> group_watch::follow() {
    entries members;
    change_watch names;
    bool listed = false;
    std::uint64_t connection = 0;
    timer gathers(core_->loop());
    paced_retry again(core_->loop());
    while (true) {
        auto connected = core_->connection_made();
        co_await connected;
        if (std::exchange(connection, core_->connection()) != core_->connection()) {
            for (auto& [name, m] : members) {
                m.watched = false;  // the watch ended with its connection
            }
            list_is_due_ = true;
        }
        result_code end = result_code::ok;
        const bool lists = std::exchange(list_is_due_, false);
        if (lists) {
            gathers.cancel();
            again.cancel();
            names = change_watch();
            auto asking = list(names, members);
            end = co_await asking;
            listed = listed || end == result_code::ok;
        }
        auto reading = read(members, lists && end == result_code::ok);
        const bool all_read = co_await reading;
        std::erase_if(members, has_left);
        if (listed) {
            notify(members);
        }
        if ((end != result_code::ok || !all_read) && !again.running()) {
            again.later([this] { list_now(); });
        }
        if (names.has_fired() && pause_ <= std::chrono::nanoseconds::zero()) {
            list_is_due_ = true;
        } else if (names.has_fired() && !gathers.running()) {
            gathers.start(pause_, [this] { list_now(); });  // one list for all changes meanwhile
        }
        if (!list_is_due_ && std::none_of(members.begin(), members.end(), has_changed)) {
            auto news = until_news(names, members);
            co_await news;
        }
    }
}

task<result_code> group_watch::list(change_watch names, entries& members) {
    auto asked = names.send(*core_, request::children(directory_));
    reply r = co_await asked;
    if (r.ok()) {
        std::sort(r.names.begin(), r.names.end());
        std::erase_if(members, [&r](const entries::value_type& m) {
            return has_left(m) || !std::binary_search(r.names.begin(), r.names.end(), m.first);
        });
        for (std::string& name : r.names) {
            members.try_emplace(std::move(name));
        }
    } else if (r.code == result_code::no_node) {
        // A directory that does not exist cannot be watched. It is created, and is an empty group.
        static_cast<void>(core_->create_directories(directory_, access_));
    }
    co_return r.code;
}

/// Those that have changed; after a list, those that are not watched. False if one of them has to
/// be read again, after another list.
task<bool> group_watch::read(entries& members, bool unwatched) {
    std::vector<entries::iterator> due;
    std::vector<oneshot<reply>> asked;
    for (auto m = members.begin(); m != members.end(); ++m) {
        if (m->second.watched ? has_changed(*m) : unwatched) {
            m->second.watch = change_watch();
            m->second.watched = true;
            due.push_back(m);
            asked.push_back(
                m->second.watch.send(*core_, request::get(join_path(directory_, m->first))));
        }
    }
    bool all_read = true;
    for (std::size_t i = 0; i < due.size(); ++i) {
        auto& one = asked[i];
        reply r = co_await one;
        auto& [name, m] = *due[i];
        // When a permission changes, no event reports it.
        m.watched = r.ok();
        if (r.ok() || r.code == result_code::no_auth) {
            group_member now = member_of(name, std::move(r));
            if (!m.known || *m.known != now) {
                m.known = std::make_shared<const group_member>(std::move(now));
            }
        } else if (r.code == result_code::no_node) {
            members.erase(due[i]);
        } else {
            m.known.reset();
            all_read = false;
        }
    }
    co_return all_read;
}

void group_watch::list_now() {
    list_is_due_ = true;
    wake_();
}

/// Reports the members when all are known and differ from what was reported before.
void group_watch::notify(const entries& members) {
    std::vector<known_member> now;
    now.reserve(members.size());
    for (const auto& [name, m] : members) {
        if (!m.known) {
            return;
        }
        now.push_back(m.known);
    }
    const auto same = [](const known_member& one, const known_member& other) {
        return one == other || *one == *other;
    };
    if (told_ && std::equal(told_->begin(), told_->end(), now.begin(), now.end(), same)) {
        return;
    }
    told_ = now;
    core_->call([this, self = shared_from_this(), now = std::move(now)] {
        calls_.call([&] {
            std::vector<group_member> all;
            all.reserve(now.size());
            for (const known_member& m : now) {
                all.push_back(*m);
            }
            (*listener_)(all);
        });
    });
}

}  // namespace latchkey::inline v0

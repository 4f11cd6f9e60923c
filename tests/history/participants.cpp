#include "participants.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace latchkey::history {
namespace {

/// The number at its end.
std::uint64_t number_of(std::string_view znode) {
    const auto last = znode.find_last_not_of("0123456789");
    const std::string_view digits = znode.substr(last == std::string_view::npos ? 0 : last + 1);
    std::uint64_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return number;
}

/// How a session's candidates can be reached: it stays as long as the session.
bool is_contact(const std::string& znode) {
    return znode.find("-peers/direct-") != std::string::npos;
}

/// Replays the log. Children of a lock's directories are all taken for participants: nobody else
/// writes there.
class replay {
public:
    explicit replay(const history& h) : history_(h) {
        for (const turn& t : h.turns) {
            locks_.try_emplace(t.lock, state{.limit = h.limit});
            add_directory(queue_directory(h.laid_out, t.lock), t.lock, false);
            if (const auto permits = permit_directory(h.laid_out, t.lock); !permits.empty()) {
                add_directory(permits, t.lock, true);
            }
            if (const auto boxes = mailbox_directory(h.laid_out, t.lock); !boxes.empty()) {
                add_directory(boxes, t.lock, false);
            }
            for (const std::string& znode : t.znodes) {
                wanted_[znode] = t.asked.permits;
            }
        }
        for (const transaction& entry : h.transactions) {
            apply(entry);
        }
        join_those_created_at_once();
    }

    std::map<std::string, queue> result() { return std::move(queues_); }

private:
    struct directory {
        std::string lock;
        bool of_permits;
        std::uint64_t times_made = 0;
        /// By place: one that is created later may come before.
        std::multimap<std::uint64_t, std::size_t> alive = {};
    };

    struct state {
        std::uint32_t limit = 0;
        std::uint32_t taken = 0;
    };

    void add_directory(const std::string& path, const std::string& lock, bool of_permits) {
        directories_.try_emplace(path, directory{.lock = lock, .of_permits = of_permits});
        queues_[path];
    }

    void apply(const transaction& entry) {
        for (const znode_change& change : entry.changes) {
            if (change.what == znode_change::kind::removed) {
                remove(entry, change.path);
            } else if (change.what == znode_change::kind::created && takes_part(change)) {
                create(entry, change.path);
            } else {
                note_new_directory(change);
                read_limit(change);
            }
        }
        if (entry.closes_session) {
            const auto own = of_session_.find(entry.session);
            if (own != of_session_.end()) {
                for (const std::string& znode : std::exchange(own->second, {})) {
                    remove(entry, znode, true);
                }
            }
        }
        for (const std::string& path : std::exchange(changed_, {})) {
            note_first(path, time_of(history_, entry));
        }
    }

    /// A round counts whatever stands beside `ready`.
    [[nodiscard]] bool takes_part(const znode_change& created) const {
        return created.ephemeral ||
               (history_.laid_out == layout::rounds && !created.path.ends_with("/ready"));
    }

    void note_new_directory(const znode_change& change) {
        const auto found = directories_.find(change.path);
        if (found != directories_.end() && change.what == znode_change::kind::created) {
            ++found->second.times_made;
        }
    }

    void read_limit(const znode_change& change) {
        const auto found = locks_.find(change.path);
        if (found != locks_.end() && history_.laid_out == layout::semaphore) {
            found->second.limit = 0;
            std::from_chars(
                change.data.data(), change.data.data() + change.data.size(), found->second.limit);
            changed_.push_back(queue_directory(history_.laid_out, change.path));
        }
    }

    void create(const transaction& entry, const std::string& znode) {
        const std::string path = directory_of(znode);
        const auto found = directories_.find(path);
        if (found == directories_.end() || is_contact(znode)) {
            return;
        }
        directory& d = found->second;
        state& lock = locks_.at(d.lock);
        participant p{.znode = znode,
                      .place = (d.times_made << 32U) + number_of(znode),
                      .session = entry.session,
                      .born_zxid = entry.zxid,
                      .born = time_of(history_, entry),
                      .reader = znode.find("__READ__") != std::string::npos,
                      .limit = lock.limit};
        if (d.of_permits) {
            p.permits = history_.laid_out == layout::semaphore
                            ? static_cast<std::uint32_t>(number_of(znode))
                            : 1;
            lock.taken += p.permits;
            p.taken = lock.taken;
        }
        d.alive.emplace(p.place, queues_[path].size());
        of_session_[entry.session].push_back(znode);
        queues_[path].push_back(std::move(p));
        changed_.push_back(queue_directory(history_.laid_out, d.lock));
    }

    void remove(const transaction& entry, const std::string& znode, bool expired = false) {
        const std::string path = directory_of(znode);
        const auto found = directories_.find(path);
        if (found == directories_.end()) {
            return;
        }
        directory& d = found->second;
        queue& all = queues_[path];
        const auto own = std::find_if(d.alive.begin(), d.alive.end(), [&](const auto& each) {
            return all[each.second].znode == znode;
        });
        if (own == d.alive.end()) {
            return;
        }
        participant& p = all[own->second];
        p.gone_zxid = entry.zxid;
        p.gone = time_of(history_, entry);
        p.expired = expired;
        p.robbed = !expired && entry.session != p.session;
        locks_.at(d.lock).taken -= p.permits;
        d.alive.erase(own);
        changed_.push_back(queue_directory(history_.laid_out, d.lock));
    }

    /// What the znode's owner wants; all permits that exist if no turn says it.
    [[nodiscard]] std::uint32_t wanted(const std::string& znode, const state& lock) const {
        const auto found = wanted_.find(znode);
        return found == wanted_.end() ? lock.limit : found->second;
    }

    void note_first(const std::string& path, nanoseconds now) {
        const directory& d = directories_.at(path);
        const state& lock = locks_.at(d.lock);
        const bool has_permits = !permit_directory(history_.laid_out, d.lock).empty();
        queue& all = queues_[path];
        bool first = true;
        for (const auto& [place, index] : d.alive) {
            participant& p = all[index];
            p.first_but_readers = p.first_but_readers.value_or(now);
            if (first && has_permits && lock.taken + wanted(p.znode, lock) > lock.limit) {
                p.first.reset();  // also when it has just been resized
            } else if (first) {
                p.first = p.first.value_or(now);
            }
            first = false;
            if (!p.reader) {
                break;
            }
        }
    }

    /// One who waits in several queues is first when it is in all of them.
    void join_those_created_at_once() {
        if (history_.laid_out != layout::one_at_a_time) {
            return;
        }
        std::map<std::int64_t, std::vector<participant*>> by_zxid;
        for (auto& [path, all] : queues_) {
            for (participant& p : all) {
                by_zxid[p.born_zxid].push_back(&p);
            }
        }
        for (const auto& [zxid, together] : by_zxid) {
            std::optional<nanoseconds> first = together.front()->first;
            for (const participant* p : together) {
                first =
                    first && p->first ? std::optional(std::max(*first, *p->first)) : std::nullopt;
            }
            for (participant* p : together) {
                p->first = first;
            }
        }
    }

    const history& history_;
    std::map<std::string, state> locks_;
    std::map<std::string, directory> directories_;
    std::map<std::string, queue> queues_;
    std::map<std::string, std::uint32_t> wanted_;
    std::map<std::int64_t, std::vector<std::string>> of_session_;
    std::vector<std::string> changed_;  ///< queues, by the transaction at hand
};

}  // namespace

std::map<std::string, queue> queues_of(const history& h) {
    return replay(h).result();
}

std::string queue_directory(layout l, const std::string& lock) {
    switch (l) {
        case layout::semaphore:
            return lock + "/queue";
        case layout::curator_semaphore:
            return lock + "/locks";
        default:
            return lock;
    }
}

std::string permit_directory(layout l, const std::string& lock) {
    switch (l) {
        case layout::semaphore:
            return lock + "/permits";
        case layout::curator_semaphore:
            return lock + "/leases";
        default:
            return {};
    }
}

std::string mailbox_directory(layout l, const std::string& lock) {
    return l == layout::election ? lock + "-peers" : std::string();
}

}  // namespace latchkey::history

#include "participants.hpp"

#include <utility>

namespace latchkey::history {
namespace {

/// Replays the log. Children of a lock are all taken for participants: nobody else writes there.
class replay {
public:
    explicit replay(const history& h) : offset_(h.wall_offset) {
        for (const turn& t : h.turns) {
            queues_[t.lock];
        }
        for (const transaction& entry : h.transactions) {
            apply(entry);
        }
    }

    std::map<std::string, queue> result() { return std::move(queues_); }

private:
    struct place {
        std::string lock;
        std::size_t index;
    };

    void apply(const transaction& entry) {
        for (const znode_change& change : entry.changes) {
            if (change.what == znode_change::kind::created && change.ephemeral) {
                create(entry, change.path);
            } else if (change.what == znode_change::kind::removed) {
                remove(entry, change.path);
            }
        }
        if (entry.closes_session) {
            const auto own = of_session_.find(entry.session);
            if (own != of_session_.end()) {
                for (const std::string& znode : std::exchange(own->second, {})) {
                    remove(entry, znode);
                }
            }
        }
    }

    [[nodiscard]] nanoseconds time_of(const transaction& entry) const {
        return std::chrono::milliseconds(entry.wall_ms) + offset_;
    }

    void create(const transaction& entry, const std::string& znode) {
        const std::string lock = znode.substr(0, znode.rfind('/'));
        const auto found = queues_.find(lock);
        if (found == queues_.end()) {
            return;
        }
        alive_[znode] = {lock, found->second.size()};
        of_session_[entry.session].push_back(znode);
        found->second.push_back({.znode = znode,
                                 .session = entry.session,
                                 .born_zxid = entry.zxid,
                                 .born = time_of(entry)});
        note_first(lock, time_of(entry));
    }

    void remove(const transaction& entry, const std::string& znode) {
        const auto found = alive_.find(znode);
        if (found == alive_.end()) {
            return;
        }
        const auto [lock, index] = found->second;
        alive_.erase(found);
        participant& p = queues_[lock][index];
        p.gone_zxid = entry.zxid;
        p.gone = time_of(entry);
        note_first(lock, time_of(entry));
    }

    void note_first(const std::string& lock, nanoseconds now) {
        queue& all = queues_[lock];
        std::size_t& next = heads_[lock];
        while (next < all.size() && all[next].gone) {
            ++next;
        }
        if (next < all.size() && !all[next].first) {
            all[next].first = now;
        }
    }

    nanoseconds offset_;
    std::map<std::string, queue> queues_;
    std::map<std::string, std::size_t> heads_;
    std::map<std::string, place> alive_;
    std::map<std::int64_t, std::vector<std::string>> of_session_;
};

}  // namespace

std::map<std::string, queue> queues_of(const history& h) {
    return replay(h).result();
}

}  // namespace latchkey::history

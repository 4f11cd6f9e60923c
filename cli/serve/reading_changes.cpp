#include "serve/reading_changes.hpp"

#include "look/queue_changes.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace latchkey::cli {

namespace {

constexpr std::size_t most_events = 200;

/// Of a participant all but how long it has existed.
auto parts_of(const participant& p) {
    return std::tie(
        p.czxid, p.path, p.holding, p.mode, p.permits, p.data, p.session_id, p.readable);
}

bool is_same(const queue_view& one, const queue_view& other) {
    const auto leader = [](const queue_view& v) {
        return v.leader ? std::tuple(v.leader->id, v.leader->data, v.leader->path)
                        : std::tuple<std::string, std::string, std::string>();
    };
    return std::tie(
               one.kind, one.malformed, one.foreign, one.sequence_left, one.capacity, one.taken) ==
               std::tie(other.kind,
                        other.malformed,
                        other.foreign,
                        other.sequence_left,
                        other.capacity,
                        other.taken) &&
           leader(one) == leader(other) &&
           std::equal(one.participants.begin(),
                      one.participants.end(),
                      other.participants.begin(),
                      other.participants.end(),
                      [](const participant& a, const participant& b) {
                          return parts_of(a) == parts_of(b);
                      });
}

bool has_same_picture(const reading& one, const reading& other) {
    const auto same_wait = [](const lock_wait& a, const lock_wait& b) {
        return a.path == b.path && a.waiter.czxid == b.waiter.czxid &&
               a.waiter.path == b.waiter.path && a.blocker.path == b.blocker.path &&
               a.blocker.holding == b.blocker.holding;
    };
    const auto same_finding = [](const finding& a, const finding& b) {
        return std::tie(a.check, a.how_bad, a.paths, a.count, a.what) ==
               std::tie(b.check, b.how_bad, b.paths, b.count, b.what);
    };
    return std::equal(one.waits.begin(),
                      one.waits.end(),
                      other.waits.begin(),
                      other.waits.end(),
                      same_wait) &&
           std::equal(one.findings.begin(),
                      one.findings.end(),
                      other.findings.begin(),
                      other.findings.end(),
                      same_finding);
}

/// Collects the changes of one path after the other.
class change_list {
public:
    void add(const std::optional<queue_view>& before, const queue_view& now) {
        for (const queue_change& c : changes_between(before, now)) {
            if (events_.size() == most_events) {
                ++left_out_;
            } else {
                events_.push_back(json_of(c, now));
            }
        }
    }

    void put_into(json_object& o) {
        o["events"] = std::move(events_);
        o["events_left_out"] = left_out_;
    }

private:
    json_object events_ = json_object::array();
    std::size_t left_out_ = 0;
};

}  // namespace

json_object summary_json(const lock_tree_entry& e) {
    if (e.ec || e.waiting == 0) {
        return json_of(e);
    }
    lock_tree_entry holders = e;
    std::erase_if(holders.view.participants, [](const participant& p) { return !p.holding; });
    return json_of(holders);
}

std::optional<json_object> changes_json(const reading& before, const reading& now) {
    json_object changed = json_object::array();
    json_object removed = json_object::array();
    change_list events;
    for (const auto& [path, e] : before.locks) {
        if (!now.locks.contains(path)) {
            removed.push_back(path);
            queue_view gone;
            gone.path = path;
            events.add(e.view, gone);
        }
    }
    for (const auto& [path, e] : now.locks) {
        const auto earlier = before.locks.find(path);
        const bool is_new = earlier == before.locks.end();
        if (is_new || !is_same(earlier->second.view, e.view)) {
            changed.push_back(summary_json(e));
            queue_view nothing;
            nothing.path = path;
            events.add(is_new ? nothing : earlier->second.view, e.view);
        }
    }
    const bool same_unreadable =
        std::equal(before.unreadable.begin(),
                   before.unreadable.end(),
                   now.unreadable.begin(),
                   now.unreadable.end(),
                   [](const auto& a, const auto& b) {
                       return a.first == b.first && a.second.ec == b.second.ec;
                   });
    const bool same_picture = has_same_picture(before, now);
    if (changed.empty() && removed.empty() && same_unreadable && same_picture) {
        return std::nullopt;
    }
    json_object o{{"changed", std::move(changed)}, {"removed", std::move(removed)}};
    o["unreadable"] = json_object::array();
    for (const auto& [path, e] : now.unreadable) {
        o["unreadable"].push_back(json_of(e));
    }
    events.put_into(o);
    o["graph_changed"] = !same_picture;
    return o;
}

}  // namespace latchkey::cli

#include "inspect/view_rules.hpp"

#include "barrier/double_barrier_round.hpp"
#include "leader/leader_record.hpp"
#include "queue/participant_record.hpp"
#include "queue/queue_order.hpp"
#include "queue/queue_recipe.hpp"
#include "semaphore/permits.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>

namespace latchkey::inline v0 {
namespace {

// ---- lists ----

/// The children of the path that take no part, if its participants are not among them.
void add_others(queue_view& v, const path_lists& lists) {
    const queue_seen& queue = lists.queue;
    for (const std::string& name : lists.znode.names) {
        if (name != queue.directory && name != queue.permits) {
            const bool malformed = !queue.is_of_semaphore() && is_malformed(name);
            (malformed ? v.malformed : v.foreign).push_back(name);
        }
    }
}

/// Returns the participants, by number.
std::vector<std::string> add_queue(queue_view& v,
                                   const queue_seen& queue,
                                   const std::vector<std::string>& names,
                                   const server_stat& directory) {
    const auto delay_in = [&](const std::string& name) {
        return queue.markers.delays ? delay_record_of(name) : std::nullopt;
    };
    std::set<std::uint32_t> present;
    std::uint32_t next = creates_in(directory);  // the servers number by a count of them
    for (const std::string& name : names) {
        const queue_place place = place_of(name, queue.markers);
        if (place.what == queue_place::standing::participant) {
            present.insert(place.sequence);
            next = std::max(next, place.sequence + 1);
        } else if (!delay_in(name)) {
            const bool foreign = place.what == queue_place::standing::foreign;
            (foreign ? v.foreign : v.malformed)
                .push_back(queue.directory.empty() ? name : join_path(queue.directory, name));
        }
        if (place.what == queue_place::standing::exhausted) {
            next = last_sequence + 1;
        }
    }
    v.sequence_left = next > last_sequence ? 0 : last_sequence - next + 1;
    for (const std::string& name : names) {
        const auto record = delay_in(name);
        if (record && record->delay.count() != 0 && !present.contains(record->sequence)) {
            v.delays.push_back({join_path(v.path, name), record->delay});
        }
    }
    return in_order(names, queue.markers);
}

/// Returns those that count: of a curator_semaphore every one, whatever its name is.
std::vector<std::string> add_permits(queue_view& v,
                                     const queue_seen& queue,
                                     std::vector<std::string> names) {
    if (v.kind == lock_kind::curator_semaphore) {
        v.taken = names.size();
        return names;
    }
    v.taken = permits_taken(names);
    std::erase_if(names, [&](const std::string& name) {
        const bool foreign = !permits_of(name);
        if (foreign) {
            v.foreign.push_back(join_path(queue.permits, name));
        }
        return foreign;
    });
    return names;
}

// ---- who holds ----

bool was_created_before(const participant& one, const participant& other) noexcept {
    return one.czxid < other.czxid;
}

/// What a participant of a mutex or shared_mutex asks for: its name says it, and of an exclusive
/// one its record says whether it is an upgrader.
lock_mode mode_of(const participant& p, const queue_markers& markers) {
    if (place_of(p.name, markers).shared) {
        return lock_mode::shared;
    }
    const bool upgrades = !markers.shared.empty() && p.identified &&
                          p.identified->mode == to_string(lock_mode::upgrade);
    return upgrades ? lock_mode::upgrade : lock_mode::exclusive;
}

/// As the participants themselves decide. A participant that has left meanwhile still counts: a
/// list is what they decide by, too.
void decide_lock(queue_view& v, const queue_list& queue) {
    for (participant& p : v.participants) {
        const lock_mode mode = mode_of(p, queue.markers());
        p.mode = mode;
        const bool first =
            queue.decide(p.name, rule_of(mode)).what == queue_verdict::answer::acquired;
        p.holding = first && (v.delays.empty() || !p.identified);  // others do not know delays
        if (p.holding && mode != lock_mode::shared && !p.hidden()) {
            p.token = latchkey::fencing_token{.zxid = p.czxid};
        }
    }
}

/// The first leads. Of two with one number, a leader and the successor that it has let in behind
/// itself, the older one does.
void decide_leader(queue_view& v, std::uint32_t first_number, const reply& znode) {
    auto& all = v.participants;
    std::stable_sort(all.begin(), all.end(), [](const participant& one, const participant& other) {
        return std::pair(one.sequence, one.czxid) < std::pair(other.sequence, other.czxid);
    });
    for (participant& p : all) {
        p.id = p.data;
    }
    if (all.empty() || all.front().sequence != first_number) {
        return;
    }
    participant& first = all.front();
    reply its_znode;
    its_znode.data = first.data;
    its_znode.stat.czxid = first.czxid;
    v.leader = leader_from(first.path, its_znode, znode);
    first.holding = true;
    if (v.leader->token.zxid != 0) {
        first.token = v.leader->token;
    }
    if (const auto record = read_leader_record(znode.data); record && record->znode == first.name) {
        first.library = participant_library::latchkey;
    }
}

/// The permits were read first, and those that wait by number.
void decide_permits(queue_view& v, const queue_seen& queue) {
    const std::string taken = join_path(v.path, queue.permits);
    auto& all = v.participants;
    const auto waiting = std::find_if(
        all.begin(), all.end(), [&](const participant& p) { return parent_of(p.path) != taken; });
    std::stable_sort(all.begin(), waiting, was_created_before);
    for (auto p = all.begin(); p != waiting; ++p) {
        p->sequence = 0;
        p->permits = v.kind == lock_kind::semaphore ? permits_of(p->name).value_or(0) : 1;
        p->holding = true;
    }
}

void decide_round(queue_view& v, const reply& ready) {
    std::stable_sort(v.participants.begin(), v.participants.end(), was_created_before);
    const auto round = double_barrier_round::read(ready.data);
    for (participant& p : v.participants) {
        p.holding = round ? round->has(p.name) : !p.hidden() && p.czxid < ready.stat.czxid;
    }
}

}  // namespace

std::vector<request> lists_besides(const queue_view& v, const path_lists& lists) {
    if (lists.queue.is_of_semaphore()) {
        // The permits come last: a participant that takes some between the lists is then in both.
        const std::string directory = lists.queue.below(v.path);
        return {request::exists(directory),
                request::children(directory),
                request::children(join_path(v.path, lists.queue.permits))};
    }
    if (v.kind == lock_kind::double_barrier &&
        std::ranges::count(lists.znode.names, double_barrier_round::ready) > 0) {
        return {request::get(join_path(v.path, double_barrier_round::ready))};
    }
    return {};
}

void find_participants(queue_view& v, path_lists& lists) {
    const auto& names = lists.znode.names;
    const auto& others = lists.others;
    switch (v.kind) {
        case lock_kind::mutex:
        case lock_kind::shared_mutex:
        case lock_kind::leader_election:
            lists.names = add_queue(v, lists.queue, names, lists.znode.stat);
            break;
        case lock_kind::semaphore:
            v.capacity = read_limit(lists.znode.data).value_or(0);
            [[fallthrough]];
        case lock_kind::curator_semaphore:
            add_others(v, lists);
            lists.names = add_queue(v, lists.queue, others[1].names, others[0].stat);
            lists.permits = add_permits(v, lists.queue, others[2].names);
            break;
        case lock_kind::double_barrier:
            lists.names = names;
            std::erase(lists.names, double_barrier_round::ready);
            break;
        case lock_kind::group:
            lists.names = names;
            break;
        case lock_kind::barrier:
            v.participants = {participant_from(v.path, lists.queue.markers, lists.znode)};
            break;
        case lock_kind::none:
        case lock_kind::unknown:
            add_others(v, lists);
            break;
    }
}

std::vector<std::string> may_hold(const path_lists& lists) {
    const queue_seen& queue = lists.queue;
    const auto& ordered = lists.names;
    if (!queue.is_queue()) {
        return ordered;
    }
    std::vector<std::string> names;
    if (ordered.empty() || queue.is_of_semaphore()) {
        return names;
    }
    const std::uint32_t first = place_of(ordered.front(), queue.markers).sequence;
    const queue_list list(ordered, queue.markers);
    for (const std::string& name : ordered) {
        // An exclusive one may be an upgrader: its record would say so.
        const bool granted =
            list.decide(name, queue_rule::exclusive_only).what == queue_verdict::answer::acquired;
        if (granted || place_of(name, queue.markers).sequence == first) {
            names.push_back(name);
        }
    }
    return names;
}

void decide_holders(queue_view& v, const path_lists& lists) {
    const auto& queue = lists.names;
    const auto& markers = lists.queue.markers;
    switch (v.kind) {
        case lock_kind::mutex:
        case lock_kind::shared_mutex:
            return decide_lock(v, queue_list(queue, markers));
        case lock_kind::leader_election:
            return decide_leader(
                v, queue.empty() ? 0 : place_of(queue.front(), markers).sequence, lists.znode);
        case lock_kind::semaphore:
        case lock_kind::curator_semaphore:
            return decide_permits(v, lists.queue);
        case lock_kind::double_barrier:
            return decide_round(v, lists.others.empty() ? reply{} : lists.others.front());
        default:
            break;
    }
    for (participant& p : v.participants) {  // the barrier itself, or the members of a group
        p.holding = true;
        if (v.kind == lock_kind::group) {
            p.id = p.name;
        }
    }
}

void complete_participants(queue_view& v, std::int64_t newest) {
    std::size_t position = 0;
    for (participant& p : v.participants) {
        p.position = position++;
        p.session_alive = p.ephemeral;
        const auto now = wall_time(p.hidden() ? 0 : newest);
        const auto age = std::max(now - p.created, decltype(p.created)::duration());
        p.existed_for = std::chrono::duration_cast<std::chrono::milliseconds>(age);
        if (p.library == participant_library::unknown) {
            p.library = library_of(v.kind, p.name, p.identified.has_value());
        }
        if (p.id.empty() && p.identified) {
            p.id = p.identified->id;
        }
    }
}

}  // namespace latchkey::inline v0

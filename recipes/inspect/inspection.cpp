#include "inspect/inspection.hpp"

#include "barrier/double_barrier_round.hpp"
#include "client/blocking_read.hpp"
#include "client/failure.hpp"
#include "leader/leader_record.hpp"
#include "leader/leader_view.hpp"
#include "queue/participant_record.hpp"
#include "queue/queue_order.hpp"
#include "queue/queue_recipe.hpp"
#include "semaphore/permits.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace latchkey::inline v0 {
namespace {

/// A participant of a shared_mutex asks for it by its name; that an exclusive one is an upgrader,
/// only its record says.
lock_mode mode_of(const participant& p, const queue_markers& markers) {
    if (place_of(p.name, markers).shared) {
        return lock_mode::shared;
    }
    return !markers.shared.empty() && p.identified &&
                   p.identified->mode == to_string(lock_mode::upgrade)
               ? lock_mode::upgrade
               : lock_mode::exclusive;
}

std::vector<std::string> paths_in(const std::string& directory,
                                  const std::vector<std::string>& names) {
    std::vector<std::string> paths;
    for (const std::string& name : names) {
        paths.push_back(join_path(directory, name));
    }
    return paths;
}

std::vector<std::string> sorted(std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    return names;
}

bool was_created_before(const participant& one, const participant& other) noexcept {
    return one.czxid < other.czxid;
}

}  // namespace

std::vector<reply> inspection::ask(const std::vector<request>& questions, std::size_t most_data) {
    std::vector<reply> answers = blocking_read(*core_, questions, most_data);
    for (const reply& r : answers) {
        newest_ = std::max({newest_, r.stat.ctime, r.stat.mtime});
    }
    return answers;
}

queue_view inspection::look() {
    // The list comes first: a leader's record that is read behind it is not older.
    auto answers = ask({request::children(path_), request::get(path_)}, longest_leader_record + 1);
    view_.path = path_;
    for (const reply& r : answers) {
        if (r.code == result_code::no_node) {
            return std::move(view_);
        }
        failure_of(r.code, path_).raise_unless(r.ok());
    }
    const std::vector<std::string> names = std::move(answers[0].names);
    znode_ = std::move(answers[1]);
    const auto known = kind_of_path({names, znode_.data, znode_.stat.ephemeral_owner != 0});
    view_.kind = known ? *known : kind_by_children(names);
    switch (view_.kind) {
        case lock_kind::semaphore:
        case lock_kind::curator_semaphore:
            look_at_semaphore(names);
            break;
        case lock_kind::barrier:
            look_at_barrier();
            break;
        case lock_kind::double_barrier:
            look_at_double_barrier(names);
            break;
        case lock_kind::group:
            look_at_group(names);
            break;
        case lock_kind::none:
        case lock_kind::unknown:
            look_at_nothing_known(names);
            break;
        case lock_kind::mutex:
        case lock_kind::shared_mutex:
        case lock_kind::leader_election:
            look_at_queue(*queue_of_kind(view_.kind, names), names);
            break;
    }
    finish();
    return std::move(view_);
}

lock_kind inspection::kind_by_children(const std::vector<std::string>& names) {
    std::vector<request> questions;
    for (const std::string& name : names) {
        questions.push_back(request::exists(join_path(path_, name)));
    }
    const auto answers = ask(questions, 0);
    std::vector<child_seen> children;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (answers[i].ok()) {
            children.push_back({names[i], answers[i].stat.ephemeral_owner != 0});
        }
    }
    return kind_of_children(children);
}

// ---- queues ----

void inspection::look_at_queue(const queue_seen& queue, const std::vector<std::string>& names) {
    const auto ordered = sort_out(names, queue);
    count_sequence(names, ordered, queue.markers, znode_.stat);
    view_.participants = read(paths_in(path_, ordered), queue.markers);
    if (view_.kind == lock_kind::leader_election) {
        decide_leader(ordered, queue.markers);
    } else {
        decide_holders(ordered, queue.markers);
    }
    missed_ = left_ && !view_.participants.empty() &&
              std::none_of(view_.participants.begin(),
                           view_.participants.end(),
                           [](const participant& p) { return p.holding; });
}

std::vector<std::string> inspection::sort_out(const std::vector<std::string>& names,
                                              const queue_seen& queue) {
    for (const std::string& name : sorted(names)) {
        std::string shown = queue.directory.empty() ? name : join_path(queue.directory, name);
        switch (place_of(name, queue.markers).what) {
            case queue_place::standing::participant:
                break;
            case queue_place::standing::foreign:
                view_.foreign.push_back(std::move(shown));
                break;
            case queue_place::standing::exhausted:
            case queue_place::standing::malformed:
                view_.malformed.push_back(std::move(shown));
                break;
        }
    }
    return in_order(names, queue.markers);
}

void inspection::count_sequence(const std::vector<std::string>& names,
                                const std::vector<std::string>& ordered,
                                const queue_markers& markers,
                                const server_stat& directory) {
    const bool ended = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return place_of(name, markers).what == queue_place::standing::exhausted;
    });
    const auto highest =
        ordered.empty() ? std::nullopt : std::optional(place_of(ordered.back(), markers).sequence);
    view_.sequence_left = ended ? 0 : sequence_left_in(directory, highest);
}

std::vector<participant> inspection::read(const std::vector<std::string>& paths,
                                          const queue_markers& markers) {
    std::vector<request> questions;
    for (const std::string& path : paths) {
        questions.push_back(request::get(path));
    }
    auto answers = ask(questions, longest_participant_data);
    // A client that may list a directory may ask whether a child exists. That shows all but the
    // data.
    std::vector<request> hidden;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (answers[i].code == result_code::no_auth) {
            hidden.push_back(request::exists(questions[i].path));
        }
    }
    auto shown = ask(hidden, 0);
    std::size_t next_shown = 0;
    std::vector<participant> found;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const bool readable = answers[i].code != result_code::no_auth;
        reply r = std::move(readable ? answers[i] : shown[next_shown++]);
        if (r.code == result_code::no_node) {
            left_ = true;
            continue;
        }
        failure_of(r.code, questions[i].path).raise_unless(r.ok());
        participant p = participant_from(questions[i].path, markers, std::move(r));
        p.readable = readable;
        found.push_back(std::move(p));
    }
    return found;
}

/// As the participants themselves decide. A participant that has left meanwhile still counts: a
/// list is what they decide by, too.
void inspection::decide_holders(const std::vector<std::string>& ordered,
                                const queue_markers& markers) {
    const queue_list queue(ordered, markers);
    for (participant& p : view_.participants) {
        const lock_mode mode = mode_of(p, markers);
        p.mode = mode;
        p.holding = queue.decide(p.name, rule_of(mode)).what == queue_verdict::answer::acquired;
        if (p.holding && mode != lock_mode::shared) {
            p.token = latchkey::fencing_token{.zxid = p.czxid};
        }
    }
}

/// The first leads. Of two with one number, a leader and the successor that it has let in behind
/// itself, the older one does.
void inspection::decide_leader(const std::vector<std::string>& ordered,
                               const queue_markers& markers) {
    auto& all = view_.participants;
    std::stable_sort(all.begin(), all.end(), [](const participant& one, const participant& other) {
        return std::pair(one.sequence, one.czxid) < std::pair(other.sequence, other.czxid);
    });
    for (participant& p : all) {
        p.id = p.data;
    }
    if (all.empty() || all.front().sequence != place_of(ordered.front(), markers).sequence) {
        return;
    }
    participant& first = all.front();
    reply its_znode;
    its_znode.data = first.data;
    its_znode.stat.czxid = first.czxid;
    view_.leader = leader_from(first.path, its_znode, znode_);
    first.holding = true;
    if (view_.leader->token.zxid != 0) {
        first.token = view_.leader->token;
    }
    if (const auto record = read_leader_record(znode_.data);
        record && record->znode == first.name) {
        first.library = participant_library::latchkey;
    }
}

// ---- semaphores ----

void inspection::look_at_semaphore(const std::vector<std::string>& names) {
    const auto queue = *queue_of_kind(view_.kind, names);
    const std::string permits(permits_of_kind(view_.kind));
    for (const std::string& name : sorted(names)) {
        if (name != queue.directory && name != permits) {
            view_.foreign.push_back(name);
        }
    }
    view_.capacity = view_.kind == lock_kind::semaphore ? read_limit(znode_.data).value_or(0) : 0;
    const std::string directory = join_path(path_, queue.directory);
    const std::string taken = join_path(path_, permits);
    // The permits come last: a participant that takes some between the lists is then in both.
    const std::vector<request> questions{
        request::exists(directory), request::children(directory), request::children(taken)};
    const auto answers = ask(questions, 0);
    for (std::size_t i = 0; i < answers.size(); ++i) {
        failure_of(answers[i].code, questions[i].path)
            .raise_unless(answers[i].ok() || answers[i].code == result_code::no_node);
    }
    const auto ordered = sort_out(answers[1].names, queue);
    count_sequence(answers[1].names, ordered, queue.markers, answers[0].stat);
    auto paths = paths_in(taken, permits_in(answers[2].names));
    for (std::string& path : paths_in(directory, ordered)) {
        paths.push_back(std::move(path));
    }
    auto& all = view_.participants;
    all = read(paths, queue.markers);
    const auto holds = [&taken](const participant& p) { return parent_of(p.path) == taken; };
    const auto waiting = std::stable_partition(all.begin(), all.end(), holds);
    std::stable_sort(all.begin(), waiting, was_created_before);
    for (auto p = all.begin(); p != waiting; ++p) {
        p->sequence = 0;
        p->permits = view_.kind == lock_kind::semaphore ? permits_of(p->name).value_or(0) : 1;
        p->holding = true;
    }
    // Its znode in the queue has gone when it takes permits, too.
    missed_ = static_cast<std::size_t>(all.end() - waiting) < ordered.size();
}

/// Those that count. Of a curator_semaphore every child does, whatever its name is.
std::vector<std::string> inspection::permits_in(const std::vector<std::string>& names) {
    if (view_.kind == lock_kind::curator_semaphore) {
        view_.taken = names.size();
        return sorted(names);
    }
    view_.taken = permits_taken(names);
    std::vector<std::string> counting;
    for (const std::string& name : sorted(names)) {
        if (permits_of(name)) {
            counting.push_back(name);
        } else {
            view_.foreign.push_back(join_path(permits_of_kind(view_.kind), name));
        }
    }
    return counting;
}

// ---- barriers and groups ----

void inspection::look_at_barrier() {
    view_.participants = {participant_from(path_, {}, znode_)};
    view_.participants.front().holding = true;
}

void inspection::look_at_double_barrier(const std::vector<std::string>& names) {
    const bool has_round =
        std::find(names.begin(), names.end(), double_barrier_round::ready) != names.end();
    reply ready;
    if (has_round) {
        const std::string path = join_path(path_, double_barrier_round::ready);
        ready = std::move(ask({request::get(path)}, double_barrier_round::longest).front());
        failure_of(ready.code, path).raise_unless(ready.ok() || ready.code == result_code::no_node);
    }
    view_.participants = read(paths_in(path_, members_in(names)), {});
    std::stable_sort(view_.participants.begin(), view_.participants.end(), was_created_before);
    if (!has_round || !ready.ok()) {
        return;
    }
    // A round that one of Curator's participants began has no list.
    const auto round = double_barrier_round::read(ready.data);
    for (participant& p : view_.participants) {
        p.holding = round ? round->has(p.name) : p.czxid < ready.stat.czxid;
    }
}

void inspection::look_at_group(const std::vector<std::string>& names) {
    view_.participants = read(paths_in(path_, sorted(names)), {});
    for (participant& p : view_.participants) {
        p.id = p.name;
        p.holding = true;
    }
}

void inspection::look_at_nothing_known(const std::vector<std::string>& names) {
    for (const std::string& name : sorted(names)) {
        (is_malformed(name) ? view_.malformed : view_.foreign).push_back(name);
    }
}

// ---- what all have ----

void inspection::finish() {
    for (std::size_t i = 0; i < view_.participants.size(); ++i) {
        participant& p = view_.participants[i];
        p.position = i;
        p.session_alive = p.ephemeral;
        p.existed_for = std::chrono::milliseconds(0);
        const auto age = wall_time(newest_) - p.created;
        if (age > age.zero()) {
            p.existed_for = std::chrono::duration_cast<std::chrono::milliseconds>(age);
        }
        if (p.library == participant_library::unknown) {
            p.library = library_of(view_.kind, p.name, p.identified.has_value());
        }
    }
}

}  // namespace latchkey::inline v0

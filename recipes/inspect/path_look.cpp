#include "inspect/path_look.hpp"

#include "barrier/double_barrier_round.hpp"
#include "client/failure.hpp"
#include "leader/leader_record.hpp"
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

path_look::path_look(std::string path, bool waiters) : path_(std::move(path)), waiters_(waiters) {
    view_.path = path_;
    looking_.start(look(), [this](failure why) { why_ = std::move(why); });
}

oneshot<std::vector<reply>> path_look::ask(std::vector<request> questions, std::size_t most_data) {
    oneshot<std::vector<reply>> answers;
    answered_ = answers.setter();
    questions_ = std::move(questions);
    most_data_ = most_data;
    if (done()) {
        answered_({});
    }
    return answers;
}

void path_look::answer(std::vector<reply> answers) {
    for (reply& r : answers) {
        know_time(std::max(r.stat.ctime, r.stat.mtime));
        if (r.data.size() > most_data_) {
            r.data = r.data.substr(0, most_data_);
        }
    }
    questions_.clear();
    const auto go_on = std::exchange(answered_, nullptr);
    go_on(std::move(answers));
    why_.raise();
}

task<failure> path_look::look() {
    // The list comes first: a leader's record that is read behind it is not older.
    auto asked = ask({request::children(path_), request::get(path_)}, longest_leader_record + 1);
    std::vector<reply> answers = co_await asked;
    for (const reply& r : answers) {
        if (!r.ok()) {
            co_return r.code == result_code::no_node
                ? failure()
                : failure_of(r.code, path_, request::kind::children);
        }
    }
    names_ = std::move(answers[0].names);
    znode_ = std::move(answers[1]);
    const auto known = kind_of_path({names_, znode_.data, znode_.stat.ephemeral_owner != 0});
    view_.kind = known.value_or(lock_kind::unknown);
    if (!known) {
        auto by_children = look_at_children();
        view_.kind = co_await by_children;
    }
    queue_ = queue_of_kind(view_.kind, names_).value_or(queue_seen{});
    auto looking = look_by_kind();
    failure why = co_await looking;
    finish();
    co_return why;
}

task<failure> path_look::look_by_kind() {
    switch (view_.kind) {
        case lock_kind::semaphore:
        case lock_kind::curator_semaphore:
            return look_at_semaphore();
        case lock_kind::barrier:
            return look_at_barrier();
        case lock_kind::double_barrier:
            return look_at_double_barrier();
        case lock_kind::group:
            return look_at_group();
        case lock_kind::mutex:
        case lock_kind::shared_mutex:
        case lock_kind::leader_election:
            return look_at_queue();
        case lock_kind::none:
        case lock_kind::unknown:
            break;
    }
    return look_at_nothing_known();
}

task<lock_kind> path_look::look_at_children() {
    std::vector<request> questions;
    for (const std::string& name : names_) {
        questions.push_back(request::exists(join_path(path_, name)));
    }
    by_children_ = true;
    auto asked = ask(std::move(questions), 0);
    const std::vector<reply> answers = co_await asked;
    std::vector<child_seen> children;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (answers[i].code == result_code::no_auth) {
            co_return lock_kind::unknown;
        }
        if (answers[i].ok()) {
            children.push_back({names_[i], answers[i].stat});
        }
    }
    co_return kind_of_children(children, znode_.stat);
}

// ---- participants ----

/// Servers before 3.8.4 and 3.9.2 show all but the data to any client. Newer ones show the name.
task<failure> path_look::read(std::vector<std::string> paths) {
    std::vector<request> questions;
    for (const std::string& path : paths) {
        questions.push_back(request::get(path));
    }
    auto asked = ask(std::move(questions), longest_participant_data);
    std::vector<reply> answers = co_await asked;
    std::vector<request> hidden;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (answers[i].code == result_code::no_auth) {
            hidden.push_back(request::exists(paths[i]));
        }
    }
    auto hidden_asked = ask(std::move(hidden), 0);
    std::vector<reply> hidden_answers = co_await hidden_asked;
    std::size_t next_hidden = 0;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const bool readable = answers[i].code != result_code::no_auth;
        reply r = std::move(readable ? answers[i] : hidden_answers[next_hidden++]);
        if (r.code == result_code::no_node) {
            left_ = true;
            continue;
        }
        if (!r.ok() && r.code != result_code::no_auth) {
            co_return failure_of(r.code, paths[i], request::kind::get);
        }
        view_.participants.push_back(participant_from(paths[i], queue_.markers, std::move(r)));
        view_.participants.back().readable = readable;
    }
    co_return failure();
}

// ---- queues ----

task<failure> path_look::look_at_queue() {
    ordered_ = sort_out(names_);
    view_.sequence_left = sequence_left_in(znode_.stat, names_, queue_.markers);
    auto reading = read(paths_in(path_, to_be_read()));
    failure why = co_await reading;
    if (!why) {
        view_.kind == lock_kind::leader_election ? decide_leader() : decide_holders();
        missed_ = left_ && !view_.participants.empty() &&
                  std::none_of(view_.participants.begin(),
                               view_.participants.end(),
                               [](const participant& p) { return p.holding; });
    }
    co_return why;
}

/// Of the participants in the queue.
std::vector<std::string> path_look::to_be_read() {
    auto names = waiters_ ? ordered_ : may_hold(view_.kind, ordered_, queue_.markers);
    left_out_ = ordered_.size() - names.size();
    return names;
}

std::vector<std::string> path_look::sort_out(const std::vector<std::string>& names) {
    for (const std::string& name : sorted(names)) {
        const auto what = place_of(name, queue_.markers).what;
        if (what != queue_place::standing::participant && !is_delay_record(name, queue_.markers)) {
            const bool foreign = what == queue_place::standing::foreign;
            (foreign ? view_.foreign : view_.malformed)
                .push_back(queue_.directory.empty() ? name : join_path(queue_.directory, name));
        }
    }
    for (const auto& [record, length] : delays_of_the_dead(sorted(names), queue_.markers)) {
        view_.delays.push_back({join_path(path_, record), length});
    }
    return in_order(names, queue_.markers);
}

/// As the participants themselves decide. A participant that has left meanwhile still counts: a
/// list is what they decide by, too.
void path_look::decide_holders() {
    const queue_list queue(ordered_, queue_.markers);
    for (participant& p : view_.participants) {
        const lock_mode mode = mode_of(p, queue_.markers);
        p.mode = mode;
        const bool first =
            queue.decide(p.name, rule_of(mode)).what == queue_verdict::answer::acquired;
        p.holding = first && (view_.delays.empty() || !p.identified);  // others do not know delays
        if (p.holding && mode != lock_mode::shared && !p.hidden()) {
            p.token = latchkey::fencing_token{.zxid = p.czxid};
        }
    }
}

/// The first leads. Of two with one number, a leader and the successor that it has let in behind
/// itself, the older one does.
void path_look::decide_leader() {
    auto& all = view_.participants;
    std::stable_sort(all.begin(), all.end(), [](const participant& one, const participant& other) {
        return std::pair(one.sequence, one.czxid) < std::pair(other.sequence, other.czxid);
    });
    for (participant& p : all) {
        p.id = p.data;
    }
    if (all.empty() ||
        all.front().sequence != place_of(ordered_.front(), queue_.markers).sequence) {
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

task<failure> path_look::look_at_semaphore() {
    const std::string_view permits = permits_of_kind(view_.kind);
    for (const std::string& name : sorted(names_)) {
        if (name != queue_.directory && name != permits) {
            view_.foreign.push_back(name);
        }
    }
    view_.capacity = view_.kind == lock_kind::semaphore ? read_limit(znode_.data).value_or(0) : 0;
    const std::string directory = join_path(path_, queue_.directory);
    const std::string taken = join_path(path_, permits);
    // The permits come last: a participant that takes some between the lists is then in both.
    auto asked = ask(
        {request::exists(directory), request::children(directory), request::children(taken)}, 0);
    const std::vector<reply> answers = co_await asked;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (!answers[i].ok() && answers[i].code != result_code::no_node) {
            co_return failure_of(
                answers[i].code, i < 2 ? directory : taken, request::kind::children);
        }
    }
    ordered_ = sort_out(answers[1].names);
    view_.sequence_left = sequence_left_in(answers[0].stat, answers[1].names, queue_.markers);
    auto paths = paths_in(taken, permits_in(answers[2].names));
    for (std::string& path : paths_in(directory, to_be_read())) {
        paths.push_back(std::move(path));
    }
    auto reading = read(std::move(paths));
    failure why = co_await reading;
    if (!why) {
        decide_semaphore();
    }
    co_return why;
}

void path_look::decide_semaphore() {
    auto& all = view_.participants;
    const std::string taken = join_path(path_, permits_of_kind(view_.kind));
    const auto holds = [&taken](const participant& p) { return parent_of(p.path) == taken; };
    const auto waiting = std::stable_partition(all.begin(), all.end(), holds);
    std::stable_sort(all.begin(), waiting, was_created_before);
    for (auto p = all.begin(); p != waiting; ++p) {
        p->sequence = 0;
        p->permits = view_.kind == lock_kind::semaphore ? permits_of(p->name).value_or(0) : 1;
        p->holding = true;
    }
    // Its znode in the queue has gone when it takes permits, too.
    missed_ = static_cast<std::size_t>(all.end() - waiting) + left_out_ < ordered_.size();
}

/// Those that count. Of a curator_semaphore every child does, whatever its name is.
std::vector<std::string> path_look::permits_in(const std::vector<std::string>& names) {
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

task<failure> path_look::look_at_barrier() {
    view_.participants = {participant_from(path_, {}, znode_)};
    view_.participants.front().holding = true;
    co_return failure();
}

task<failure> path_look::look_at_double_barrier() {
    const std::string path = join_path(path_, double_barrier_round::ready);
    std::vector<request> questions;
    if (std::find(names_.begin(), names_.end(), double_barrier_round::ready) != names_.end()) {
        questions.push_back(request::get(path));
    }
    auto asked = ask(std::move(questions), double_barrier_round::longest);
    const std::vector<reply> ready = co_await asked;
    if (!ready.empty() && !ready[0].ok() && ready[0].code != result_code::no_node) {
        co_return failure_of(ready[0].code, path, request::kind::exists);
    }
    auto reading = read(paths_in(path_, members_in(names_)));
    failure why = co_await reading;
    std::stable_sort(view_.participants.begin(), view_.participants.end(), was_created_before);
    if (!why && !ready.empty() && ready[0].ok()) {
        decide_round(ready[0]);
    }
    co_return why;
}

void path_look::decide_round(const reply& ready) {
    const auto round = double_barrier_round::read(ready.data);
    for (participant& p : view_.participants) {
        p.holding = round ? round->has(p.name) : !p.hidden() && p.czxid < ready.stat.czxid;
    }
}

task<failure> path_look::look_at_group() {
    auto reading = read(paths_in(path_, sorted(names_)));
    failure why = co_await reading;
    for (participant& p : view_.participants) {
        p.id = p.name;
        p.holding = true;
    }
    co_return why;
}

task<failure> path_look::look_at_nothing_known() {
    for (const std::string& name : sorted(names_)) {
        (is_malformed(name) ? view_.malformed : view_.foreign).push_back(name);
    }
    co_return failure();
}

// ---- what all have ----

void path_look::finish() {
    for (std::size_t i = 0; i < view_.participants.size(); ++i) {
        participant& p = view_.participants[i];
        p.position = i;
        p.session_alive = p.ephemeral;
        const auto now = wall_time(p.hidden() ? 0 : newest_);
        const auto age = std::max(now - p.created, decltype(p.created)::duration());
        p.existed_for = std::chrono::duration_cast<std::chrono::milliseconds>(age);
        if (p.library == participant_library::unknown) {
            p.library = library_of(view_.kind, p.name, p.identified.has_value());
        }
        if (p.id.empty() && p.identified) {
            p.id = p.identified->id;
        }
    }
}

}  // namespace latchkey::inline v0

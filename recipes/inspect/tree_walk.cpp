#include "inspect/tree_walk.hpp"

#include "barrier/double_barrier_round.hpp"
#include "client/failure.hpp"
#include "client/public_stat.hpp"
#include "inspect/kind_rules.hpp"
#include "leader/transfer/mailbox.hpp"
#include "queue/participant_record.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v0 {
namespace {

/// No tree of locks has a path so far below the first one.
constexpr std::size_t deepest = 64;

/// How many questions are asked ahead, with those whose answers are still to be used.
constexpr std::size_t most_open = 2 * read_window::enough;

/// Whether the path is a directory of mailboxes beside an election.
bool is_for_mailboxes(const std::string& path, const std::vector<std::string>& names) {
    return path.ends_with(peers_of({})) &&
           std::all_of(names.begin(), names.end(), [](const std::string& name) {
               return read_mailbox_name(name).has_value();
           });
}

/// The names below which there may be locks.
std::vector<std::string> to_be_visited(const path_look& look) {
    std::vector<std::string> names = look.names();
    const lock_kind kind = look.kind();
    const auto queue = queue_of_kind(kind, names);
    std::erase_if(names, [&](const std::string& name) {
        switch (kind) {
            case lock_kind::semaphore:
            case lock_kind::curator_semaphore:
                return name == queue->directory || name == permits_of_kind(kind);
            case lock_kind::double_barrier:
                return true;
            default:
                return queue &&
                       place_of(name, queue->markers).what != queue_place::standing::foreign;
        }
    });
    std::sort(names.begin(), names.end());
    return names;
}

/// How much of a znode's data the directory above it may need: that of a member of a group, or of
/// the list of a round.
std::size_t needed_above(std::string_view name, const server_stat& stat) noexcept {
    return name == double_barrier_round::ready ? double_barrier_round::longest
           : stat.ephemeral_owner != 0         ? longest_participant_data
                                               : longest_record;
}

}  // namespace

lock_tree_summary tree_walk::run(const std::string& path) {
    visits_.push_back({.path = path});
    while (!visits_.empty()) {
        ask_first();
        if (answered_.empty()) {
            take_answers();
        }
        for (const auto& v : std::exchange(answered_, {})) {
            advance(v);
        }
        report_finished();
    }
    return summary_;
}

// ---- questions ----

/// Asks for the first visits what they need to know.
void tree_walk::ask_first() {
    for (auto v = visits_.begin(); v != visits_.end() && reads_.open() < most_open; ++v) {
        if (v->is_asking || v->done) {
            continue;
        }
        if (!v->look && !v->asks_access) {
            begin(*v);
        }
        if (!v->done && v->unread == 0) {
            v->is_asking = true;
            if (!ask(v)) {
                answered_.push_back(v);
            }
        }
    }
}

void tree_walk::begin(visit& v) {
    if (!cut_ && options_.stop.stop_requested()) {
        cut_ = true;
        summary_.end = lock_tree_summary::ending::stopped;
    }
    if (!cut_ && summary_.znodes >= options_.max_znodes) {
        cut_ = true;
        summary_.end = lock_tree_summary::ending::too_many;
    }
    if (!cut_) {
        v.look = std::make_unique<path_look>(v.path, options_.waiters);
        v.answers.resize(v.look->questions().size());
        return;
    }
    v.done = v.internal = true;
    if (v.parent != nullptr) {
        v.parent->done = v.parent->internal = true;  // what it is will never be known
    }
}

/// Returns false if nothing is unknown.
bool tree_walk::ask(visits::iterator v) {
    if (v->asks_access) {
        asked_[reads_.add({request::access_of(v->path)}, 0)] = {v, {0}};
        return true;
    }
    take_known_answers(*v);
    std::vector<request> questions;
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < v->answers.size(); ++i) {
        if (!v->answers[i]) {
            questions.push_back(v->look->questions()[i]);
            numbers.push_back(i);
        }
    }
    if (questions.empty()) {
        return false;
    }
    const bool is_round = name_of(v->path) == double_barrier_round::ready;
    const std::size_t most_data = is_round ? double_barrier_round::longest : v->look->most_data();
    asked_[reads_.add(std::move(questions), most_data)] = {v, std::move(numbers)};
    return true;
}

/// What the walk has read already, below the path.
void tree_walk::take_known_answers(visit& v) {
    for (std::size_t i = 0; i < v.answers.size() && !v.children.empty(); ++i) {
        const request& question = v.look->questions()[i];
        const auto known = v.children.find(question.path);
        const bool only_stat = question.what == request::kind::exists;
        // A znode that the client may not read shows its stat nevertheless.
        if (known == v.children.end() ||
            (only_stat && known->second.code == result_code::no_auth)) {
            continue;
        }
        v.answers[i] = known->second;
    }
}

void tree_walk::take_answers() {
    if (asked_.empty()) {
        return;
    }
    for (auto& [group, replies] : reads_.take()) {
        const auto found = asked_.find(group);
        const auto [v, numbers] = std::move(found->second);
        asked_.erase(found);
        for (std::size_t i = 0; i < replies.size(); ++i) {
            const bool is_read = !v->asks_access &&
                                 v->look->questions()[numbers[i]].what == request::kind::get &&
                                 replies[i].code != result_code::no_node;
            summary_.znodes += is_read ? 1 : 0;
            v->answers[numbers[i]] = std::move(replies[i]);
        }
        answered_.push_back(v);
    }
}

// ---- one path ----

void tree_walk::advance(visits::iterator v) {
    v->is_asking = false;
    if (v->asks_access) {
        reply& r = *v->answers.front();
        if (r.ok()) {
            v->entry.access = std::move(r.access);
        }
        v->done = true;
        return;
    }
    std::vector<reply> answers;
    answers.reserve(v->answers.size());
    for (auto& known : v->answers) {
        answers.push_back(*std::move(known));
    }
    const bool first = !std::exchange(v->begun, true);
    if (first) {
        tell_parent(*v, answers.back());
    }
    v->look->know_time(newest_);
    try {
        v->look->answer(std::move(answers));
    } catch (const error& e) {
        refuse(*v, e.code());
        return;
    }
    newest_ = v->look->newest();
    if (first) {
        expand(v);
    }
    if (v->look->done()) {
        look_is_done(*v);
    } else {
        v->answers.assign(v->look->questions().size(), std::nullopt);
    }
}

void tree_walk::refuse(visit& v, std::error_code why) {
    v.entry.view = {};
    v.entry.view.path = v.path;
    v.entry.view.kind = lock_kind::unknown;
    v.entry.ec = why;
    v.done = true;
}

void tree_walk::tell_parent(visit& v, const reply& znode) {
    if (v.parent == nullptr) {
        return;
    }
    reply& kept = v.parent->children[v.path];
    kept.code = znode.code;
    kept.stat = znode.stat;
    kept.data = znode.data.substr(0, needed_above(name_of(v.path), znode.stat));
    --v.parent->unread;
}

/// Adds the children of a path to those to be visited: behind it, or before it if it has to know
/// them.
void tree_walk::expand(visits::iterator v) {
    const path_look& look = *v->look;
    if (look.names().empty()) {
        return;
    }
    if (is_for_mailboxes(v->path, look.names())) {
        v->done = v->internal = true;
        return;
    }
    auto names = to_be_visited(look);
    if (v->depth >= options_.max_depth) {
        if (!names.empty() && summary_.end == lock_tree_summary::ending::complete) {
            summary_.end = lock_tree_summary::ending::too_deep;
        }
        // A tree that deep has no end, for all that is known: a server makes it up.
        cut_ = cut_ || (!names.empty() && v->depth >= deepest);
        return;
    }
    // What waits to be visited takes memory, and is not visited beyond max_znodes.
    const std::size_t room = options_.max_znodes - std::min(options_.max_znodes, visits_.size());
    if (names.size() > room) {
        names.resize(room);
        summary_.end = lock_tree_summary::ending::too_many;
    }
    const bool needs_them = look.asks_for_children() && !look.done();
    const auto before = needs_them ? v : std::next(v);
    for (const std::string& name : names) {
        visit child{.path = join_path(v->path, name), .depth = v->depth + 1};
        if (child.path == "/zookeeper") {
            continue;
        }
        if (!path_problem(child.path).empty()) {
            refuse(child, errc::invalid_argument);
        } else if (needs_them) {
            child.parent = &*v;
            ++v->unread;
        }
        visits_.insert(before, std::move(child));
    }
}

void tree_walk::look_is_done(visit& v) {
    const server_stat& stat = v.look->znode().stat;
    const bool had_children = !v.look->names().empty() || stat.cversion != 0;
    queue_view& view = v.entry.view;
    view = v.look->take_view();
    const auto waits = [](const participant& p) { return !p.holding; };
    const auto& shown = view.participants;
    v.entry.waiting = v.look->left_out() +
                      static_cast<std::size_t>(std::count_if(shown.begin(), shown.end(), waits));
    if (view.kind == lock_kind::none || stat.ephemeral_owner != 0) {
        v.internal = true;
    } else if (view.kind == lock_kind::semaphore && !had_children) {
        view = {};
        view.path = v.path;
        view.kind = lock_kind::unknown;
    }
    v.entry.stat = public_stat(stat);
    v.look.reset();
    v.children.clear();
    if (view.kind == lock_kind::unknown && !options_.others) {
        v.internal = true;
    }
    v.asks_access = options_.access && !v.internal;
    v.answers.assign(1, std::nullopt);
    v.done = !v.asks_access;
}

// ---- the report ----

void tree_walk::report_finished() {
    while (!visits_.empty() && visits_.front().done) {
        const visit& v = visits_.front();
        if (!v.internal) {
            summary_.unreadable += v.entry.ec ? 1 : 0;
            summary_.locks += v.entry.view.kind != lock_kind::unknown ? 1 : 0;
            report_(v.entry);
        }
        visits_.pop_front();
    }
}

}  // namespace latchkey::inline v0

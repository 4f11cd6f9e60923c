#include "look/health_check.hpp"

#include "inspect/kind_rules.hpp"
#include "look/queue_json.hpp"
#include "options/duration_text.hpp"
#include "queue/znode_names.hpp"
#include "text/escape.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace latchkey::cli {

namespace {

using level = finding::level;

constexpr std::size_t most_paths = 5;

/// A directory that is empty for less may be one that the servers are about to remove.
constexpr std::chrono::minutes newly_created{10};

/// Of two thousand million sequence numbers.
constexpr std::uint32_t few_numbers = last_sequence / 100;
constexpr std::uint32_t getting_few_numbers = last_sequence / 10;

/// Whether each participant should be removed with its session. Every child of `leases` counts as
/// one of a curator_semaphore, whatever its name is: if none has a name of Curator's or ours, it
/// may be a directory of another program.
bool needs_sessions(const queue_view& v) {
    switch (v.kind) {
        case lock_kind::mutex:
        case lock_kind::shared_mutex:
        case lock_kind::semaphore:
        case lock_kind::leader_election:
            return true;
        case lock_kind::curator_semaphore:
            return std::any_of(v.participants.begin(),
                               v.participants.end(),
                               [](const participant& p) { return p.name.starts_with(protection); });
        default:
            return false;
    }
}

std::string list_of(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), most_paths); ++i) {
        text += (i == 0 ? "" : ", ") + escaped(names[i]);
    }
    return names.size() > most_paths
               ? text + fmt::format(", and {} more", names.size() - most_paths)
               : text;
}

bool is_open(const acl& access) {
    constexpr auto dangerous = static_cast<std::int32_t>(permission::create | permission::remove |
                                                         permission::write | permission::admin);
    return std::any_of(access.begin(), access.end(), [](const acl_entry& e) {
        return e.scheme == "world" && (static_cast<std::int32_t>(e.allowed) & dangerous) != 0;
    });
}

std::string sentence_of(const lock_wait& w) {
    return fmt::format("{} waits for {}, which {} {}",
                       who_text(w.waiter),
                       escaped(w.path),
                       who_text(w.blocker),
                       w.blocker.holding ? "holds" : "waits for ahead of it");
}

}  // namespace

void health_check::look_at(const lock_tree_entry& e) {
    if (e.ec) {
        ++unreadable_;
        count({.check = "unreadable",
               .how_bad = level::advice,
               .what = "may not be read: " + e.ec.message(),
               .why = "Nothing is known about locks there.",
               .remedy = "Run latchkey doctor with credentials that may read it (--auth-file)."},
              e.view.path);
        return;
    }
    if (e.view.kind == lock_kind::unknown) {
        look_at_emptiness(e);
        return;
    }
    ++locks_;
    look_at_participants(e.view);
    look_at_names(e.view);
    look_at_sequence(e.view);
    look_at_access(e);
    if (std::any_of(e.view.participants.begin(),
                    e.view.participants.end(),
                    [](const participant& p) { return !p.holding; })) {
        queue_view& kept = contended_.emplace_back(e.view);
        for (participant& p : kept.participants) {
            p.data.resize(p.identified ? 0 : std::min<std::size_t>(p.data.size(), 64));
        }
    }
}

void health_check::look_at_participants(const queue_view& v) {
    for (const participant& p : v.participants) {
        if (p.ephemeral || p.hidden() || !needs_sessions(v)) {
            continue;
        }
        count(
            {.check = p.holding ? "holder_without_session" : "waiter_without_session",
             .what = fmt::format("{} has no session, because the znode is not ephemeral ({})",
                                 p.holding ? "a holder" : "a waiter",
                                 who_text(p)),
             .why = "No end of a program removes it. The lock stays taken, and all that wait "
                    "behind it wait for ever.",
             .remedy = "Make sure that its program does not run any more. Then delete the znode."},
            p.path);
    }
}

void health_check::look_at_names(const queue_view& v) {
    if (!v.malformed.empty()) {
        single_.push_back(
            {.check = "malformed_children",
             .paths = {v.path},
             .what = "children that look like participants and cannot be ordered: " +
                     list_of(v.malformed),
             .why = "Nothing more is granted while they are there (malformed_participant, or "
                    "sequence_exhausted).",
             .remedy = "Find out which program made them, and delete them."});
    }
    std::vector<std::string> mixed;
    std::vector<std::string> foreign;
    for (const std::string& name : v.foreign) {
        (is_in_a_queue(name.substr(name.rfind('/') + 1)) ? mixed : foreign).push_back(name);
    }
    if (!mixed.empty()) {
        single_.push_back(
            {.check = "mixed_kinds",
             .paths = {v.path},
             .what = fmt::format(
                 "participants of another kind than {}: {}", to_string(v.kind), list_of(mixed)),
             .why = "They do not see each other: two programs may hold this lock at the same time.",
             .remedy = "Use one kind of lock on one path. Give each kind a path of its own."});
    }
    if (!foreign.empty()) {
        count({.check = "foreign_children",
               .how_bad = level::advice,
               .what = "has children that take no part in it, for example " + list_of(foreign),
               .why = "They are in every list that a participant reads, and keep the servers from "
                      "removing the directory.",
               .remedy = "Keep other znodes out of the directory of a lock."},
              v.path);
    }
}

void health_check::look_at_sequence(const queue_view& v) {
    if (!v.sequence_left || *v.sequence_left > getting_few_numbers) {
        return;
    }
    single_.push_back(
        {.check = "sequence_head_room",
         .how_bad = *v.sequence_left > few_numbers ? level::advice : level::problem,
         .paths = {v.path},
         .what = fmt::format("{} sequence numbers are left", *v.sequence_left),
         .why = "Each acquire takes one. Behind the last one nothing is granted any more "
                "(sequence_exhausted).",
         .remedy =
             "Move the lock to another path, or delete the directory while nothing uses it."});
}

void health_check::look_at_access(const lock_tree_entry& e) {
    if (e.access && is_open(*e.access)) {
        count({.check = "open_access",
               .how_bad = level::advice,
               .what = "may be changed by everyone (world:anyone)",
               .why = "Whoever reaches a client port can create and delete participants: take the "
                      "lock, or release that of another program.",
               .remedy = "Use credentials and creator_only_acl(), and change the lists of the "
                         "znodes that exist (setAcl of zkCli.sh). See docs/security.md."},
              e.view.path);
    }
}

void health_check::look_at_emptiness(const lock_tree_entry& e) {
    const bool was_used = e.stat.child_version > 0 && e.stat.child_count == 0;
    if (was_used && e.stat.data_size == 0 && now_ - e.stat.created > newly_created) {
        count({.check = "empty_directory",
               .how_bad = level::advice,
               .what = "is empty, and had children",
               .why = "If it is a lock that is not used any more, it takes memory for ever. "
                      "kazoo and go-zookeeper create such directories; the servers remove those "
                      "of Latchkey and Curator (containers) within a minute or so.",
               .remedy = "Delete it if nothing uses it. If it is a container, check "
                         "znode.container.checkIntervalMs of the servers."},
              e.view.path);
    }
}

void health_check::add_deadlocks(const std::vector<deadlock>& deadlocks) {
    for (const deadlock& d : deadlocks) {
        finding f{.check = "deadlock",
                  .paths = {},
                  .what = fmt::format("{} clients wait for each other:", d.cycle.size()),
                  .why =
                      "None of them can go on, and neither can those that wait behind them. (If "
                      "one client holds and waits with different threads, it may be no "
                      "deadlock.)",
                  .remedy =
                      "End one of the programs, or delete the waiting znode of one: its "
                      "acquire fails then. Let all programs lock in the same order, or lock "
                      "several paths at once with multi_mutex.",
                  .waits = d.cycle};
        for (const lock_wait& w : d.cycle) {
            f.paths.push_back(w.path);
            f.what += "\n    " + sentence_of(w);
        }
        for (const lock_wait& w : d.others) {
            f.what += "\n    also: " + sentence_of(w);
        }
        f.waits.insert(f.waits.end(), d.others.begin(), d.others.end());
        f.count = f.paths.size();
        single_.push_back(std::move(f));
    }
    for (const lock_wait& w : find_self_waits(contended_)) {
        single_.push_back(
            {.check = "waits_for_itself",
             .how_bad = level::advice,
             .paths = {w.path},
             .what =
                 fmt::format("{} waits for a mutex that the same client holds", who_text(w.waiter)),
             .why = "If one thread does both, it waits for ever. If two threads do it, all is "
                    "well.",
             .remedy = "Check the program. recursive_mutex may be locked again by its thread.",
             .waits = {w}});
    }
}

void health_check::look_at_timeouts(std::chrono::milliseconds asked,
                                    std::chrono::milliseconds granted,
                                    std::chrono::milliseconds least) {
    if (granted != asked) {
        single_.push_back(
            {.check = "session_timeout",
             .how_bad = level::advice,
             .count = 0,
             .what = fmt::format("the servers grant a session timeout of {} instead of {}",
                                 in_seconds(granted),
                                 in_seconds(asked)),
             .why = "A lock of a program that dies is free later, or a hold is lost sooner, than "
                    "its configuration says.",
             .remedy = "Ask for a timeout that the servers grant (-t), or change "
                       "minSessionTimeout and maxSessionTimeout of the servers."});
    }
    const auto tick = least / 2;
    if (least.count() > 0 && granted < 5 * tick) {
        single_.push_back(
            {.check = "session_timeout_in_ticks",
             .how_bad = level::advice,
             .count = 0,
             .what = fmt::format("a session timeout of {} is less than five ticks of {}, which is "
                                 "half of the least timeout that the servers grant",
                                 in_seconds(granted),
                                 in_seconds(tick)),
             .why = "Holds survive only short outages then. See docs/operations.md.",
             .remedy = "Ask for a longer timeout (-t and client_options::session_timeout), or give "
                       "the servers a shorter tickTime."});
    }
}

void health_check::count(finding f, const std::string& path) {
    const auto [found, is_new] = counted_.try_emplace(f.check, std::move(f));
    finding& all = found->second;
    all.count = is_new ? 1 : all.count + 1;
    if (all.paths.size() < most_paths) {
        all.paths.push_back(path);
    }
}

std::vector<finding> health_check::findings() const {
    std::vector<finding> all = single_;
    for (const auto& [check, f] : counted_) {
        all.push_back(f);
    }
    const auto rank = [](const finding& f) { return std::pair(f.how_bad, f.check != "deadlock"); };
    std::stable_sort(all.begin(), all.end(), [&](const finding& one, const finding& other) {
        return rank(one) < rank(other);
    });
    return all;
}

std::string text_of(const finding& f) {
    std::string where;
    if (f.check != "deadlock") {
        where = f.count == 1 ? escaped(f.paths.front()) + ": "
                : f.count == 0
                    ? ""
                    : fmt::format("{} paths ({}): ",
                                  f.count,
                                  list_of(f.paths) + (f.count > f.paths.size() ? ", ..." : ""));
    }
    return fmt::format("{}: {}\n  {}{}\n  Why: {}\n  Do:  {}\n",
                       f.how_bad == level::problem ? "PROBLEM" : "advice",
                       f.check,
                       where,
                       f.what,
                       f.why,
                       f.remedy);
}

nlohmann::ordered_json json_of(const finding& f) {
    json_object o{{"type", "finding"},
                  {"check", f.check},
                  {"level", f.how_bad == level::problem ? "problem" : "advice"},
                  {"count", f.count},
                  {"paths", f.paths},
                  {"what", f.what},
                  {"why", f.why},
                  {"do", f.remedy},
                  {"waits", json_object::array()}};
    for (const lock_wait& w : f.waits) {
        o["waits"].push_back(json_of(w));
    }
    return o;
}

}  // namespace latchkey::cli

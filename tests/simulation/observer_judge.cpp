#include "observer_judge.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::simulation {

namespace {

std::string parent_of(const std::string& path) {
    return path.substr(0, path.rfind('/'));
}

std::string text_of(const std::optional<leader_info>& now) {
    return now ? now->path + " (" + now->id + ", \"" + now->data + "\", " + now->token.to_string() +
                     ")"
               : std::string("nobody");
}

}  // namespace

observer_judge::observer_judge(stage& s,
                               const truth& t,
                               const leader_log& elections,
                               const std::set<std::string>& directories)
    : stage_(s), truth_(t), log_(elections), marker_(s.recipe.names().exclusive), timely_(s) {
    for (const std::string& directory : directories) {
        elections_[directory];
    }
}

// ---- the log ----

/// Empty if it takes no part.
std::string observer_judge::number_of(const std::string& path) const {
    constexpr std::size_t digits = 10;
    const std::string name(last_name(path));
    const std::size_t at = name.rfind(marker_);
    const std::string number = at == std::string::npos ? "" : name.substr(at + marker_.size());
    const bool is_number =
        number.size() == digits && number.find_first_not_of("0123456789") == std::string::npos;
    return is_number && !truth_.unorderable(path) ? number : "";
}

void observer_judge::applied(const model::transaction& t) {
    timely_.applied(t);
    for (const model::change& c : t.changes) {
        if (const auto own = elections_.find(c.path); own != elections_.end()) {
            changed(own->second, c);
            own->second.there = c.what != model::change::kind::remove;
        }
        const auto of = elections_.find(parent_of(c.path));
        const std::string number = number_of(c.path);
        if (of == elections_.end() || number.empty()) {
            continue;
        }
        election& e = of->second;
        if (c.what == model::change::kind::create) {
            created_[c.path].push_back(t.zxid);
            e.queue.emplace(std::pair(number, t.zxid), c.path);
            ids_[c.path].push_back(c.data);
        } else if (c.what == model::change::kind::remove) {
            e.queue.erase({number, created_[c.path].back()});
        } else if (c.what == model::change::kind::set_data) {
            ids_[c.path].push_back(c.data);
            if (c.path == e.reigns.back().path) {
                e.changed = stage_.now();
                allow(of->first, 0, 1);
            }
        }
    }
    for (auto& [directory, e] : elections_) {
        note_first(directory, e);
    }
}

/// Of the directory itself.
void observer_judge::changed(election& e, const model::change& c) {
    if (c.what == model::change::kind::set_data) {
        allow(c.path, 0, 1);
    } else if (c.what == model::change::kind::remove) {
        allow(c.path, 5, 2);  // until it is made again
    }
    if (c.what != model::change::kind::set_counter) {
        e.changed = stage_.now();
    }
}

void observer_judge::note_first(const std::string& directory, election& e) {
    const std::string first = e.queue.empty() ? std::string() : e.queue.begin()->second;
    reign& last = e.reigns.back();
    if (first == last.path && (first.empty() || created_.at(first).back() == last.czxid)) {
        return;
    }
    last.over = true;
    // A list and a read for each change; nobody is found out with a second list, and watched.
    allow(directory, first.empty() ? 2 : 1, stage_.recipe.names().twins ? 4 : 2);
    e.reigns.push_back({first, first.empty() ? 0 : created_.at(first).back()});
    e.changed = stage_.now();
}

// ---- observers ----

std::shared_ptr<observation> observer_judge::begins(std::shared_ptr<client_record> by,
                                                    std::string who,
                                                    std::string directory) {
    stage_.tell(who, " observes ", directory);
    const auto o = std::make_shared<observation>();
    o->begun = stage_.now();
    o->counted = elections_.at(directory).there && by->session != 0 &&
                 stage_.now() - by->connected_at > stage_.hops(10);
    // Its server may not have heard yet of what was the last to change.
    o->most.children = 4;
    o->most.gets = 6;
    watched_[by.get()].insert(directory);
    o->by = std::move(by);
    o->who = std::move(who);
    o->directory = std::move(directory);
    observations_.push_back(o);
    return o;
}

void observer_judge::ends(observation& o) {
    stage_.tell(o.who, " observes no more");
    o.observer = nullptr;
}

bool observer_judge::may_watch(const std::string& path, const client_record& by) const {
    const auto found = watched_.find(&by);
    return found != watched_.end() &&
           (found->second.contains(path) || found->second.contains(parent_of(path)));
}

void observer_judge::reports(observation& o, const std::optional<leader_info>& now) {
    stage_.tell(o.who, " sees ", text_of(now));
    stage_.mark(static_cast<std::uint64_t>(now ? now->token.zxid + 1 : 0));
    ++stage_.counts.lists;
    if (o.observer == nullptr || o.by->ended) {
        return stage_.broken("I9", o.who + " is told who leads after its end");
    }
    if (o.told && o.last == now) {
        return stage_.broken("I9", o.who + " is told twice that the leader is " + text_of(now));
    }
    if (now) {
        check_reign(o, *now);
        check_read(o, *now);
    } else if (o.last && !elections_.at(o.directory).reigns[*o.reign].over) {
        stage_.broken("I9", o.who + " is told that nobody leads while " + o.last->path + " does");
    }
    o.told = true;
    o.last = now;
}

/// It was the first, and earlier leaders are not reported.
void observer_judge::check_reign(observation& o, const leader_info& now) {
    if (o.last && o.last->path != now.path) {
        return stage_.broken("I9", o.who + " is not told that nobody led before " + now.path);
    }
    if (o.last) {
        return;  // it is read again
    }
    const auto& reigns = elections_.at(o.directory).reigns;
    const std::string path = o.by->chroot + now.path;
    for (std::size_t i = o.reign ? *o.reign + 1 : 0; i < reigns.size(); ++i) {
        if (reigns[i].path == path) {
            o.reign = i;
            return;
        }
    }
    stage_.broken("I9",
                  o.who + " is told of " + now.path + ", which never was the first" +
                      (o.reign ? " after " + reigns[*o.reign].path : std::string()));
}

/// What it says of itself was there to be read, after what was told before.
void observer_judge::check_read(observation& o, const leader_info& now) {
    const std::string path = o.by->chroot + now.path;
    const auto& ids = ids_[path];
    if (std::find(ids.begin(), ids.end(), now.id) == ids.end()) {
        return stage_.broken("I9", o.who + " is told of an id that never was: " + text_of(now));
    }
    const auto& states = log_.states_of(o.directory);
    // The first of all is that there is nothing.
    for (std::size_t i = o.record; i <= states.size(); ++i) {
        if (tells(i == 0 ? std::nullopt : std::optional(states[i - 1]), now, *o.by)) {
            o.record = i;
            return;
        }
    }
    const bool unreadable = stage_.what.uses(fault::access_taken);
    if (!unreadable || !tells(std::nullopt, now, *o.by)) {
        stage_.broken("I9", o.who + " is told what no record says since: " + text_of(now));
    }
}

/// Whether that is what is to be told with such a record.
bool observer_judge::tells(const std::optional<leader_log::state>& s,
                           const leader_info& now,
                           const client_record& by) const {
    const std::string path = by.chroot + now.path;
    std::string data;
    std::vector<fencing_token> tokens{{}};
    if (!stage_.recipe.names().twins) {
        tokens.clear();  // a selector's
        for (const std::int64_t czxid : created_.at(path)) {
            tokens.push_back({czxid, 0});
        }
    }
    if (s && s->is && s->is->successor == last_name(path)) {
        tokens = {{s->is->token, s->is->turn + 1}};
    } else if (s && s->is && s->is->znode == last_name(path)) {
        tokens = {{s->is->token != 0 ? s->is->token : s->zxid, s->is->turn}};
        data = s->is->data;
    }
    return now.data == data && std::find(tokens.begin(), tokens.end(), now.token) != tokens.end();
}

// ---- after every event ----

void observer_judge::check() {
    if (!timely_.looks() || stage_.over()) {
        return;
    }
    std::erase_if(observations_, [&](const auto& o) { return o->by->crashed || o->by->closed; });
    for (const auto& o : observations_) {
        if (o->observer != nullptr) {
            check_timely(*o);
        }
    }
    for (const auto& [by, directories] : watched_) {
        check_cost(*by);
    }
}

std::optional<leader_info> observer_judge::present(const observation& o) const {
    const election& e = elections_.at(o.directory);
    const std::string& first = e.reigns.back().path;
    if (first.empty()) {
        return std::nullopt;
    }
    leader_info now{.id = ids_.at(first).back(),
                    .data = {},
                    .token = {},
                    .path = first.substr(o.by->chroot.size())};
    const auto& states = log_.states_of(o.directory);
    const auto& record = states.empty() ? std::nullopt : states.back().is;
    if (!stage_.recipe.names().twins) {
        now.token.zxid = created_.at(first).back();
    }
    if (record && record->successor == last_name(first)) {
        now.token = {record->token, record->turn + 1};
    } else if (record && record->znode == last_name(first)) {
        now.token = {record->token != 0 ? record->token : states.back().zxid, record->turn};
        now.data = record->data;
    }
    return now;
}

void observer_judge::check_timely(const observation& o) {
    const duration then = stage_.now() - timely_.soon();
    if (o.begun > then || elections_.at(o.directory).changed > then ||
        !timely_.watches_unhindered(*o.by, then)) {
        return;
    }
    ++stage_.counts.timely;
    const auto truly = present(o);
    if (!o.told || o.last != truly || o.observer->current() != truly) {
        stage_.broken("I8",
                      o.who + " was not told for a while that the leader is " + text_of(truly));
    }
}

void observer_judge::allow(const std::string& directory, std::uint64_t lists, std::uint64_t gets) {
    for (const auto& o : observations_) {
        if (o->observer != nullptr && o->directory == directory) {
            o->most.children += lists;
            o->most.gets += gets;
        }
    }
}

/// Of a client that does nothing else.
void observer_judge::check_cost(const client_record& by) {
    const auto& faults = stage_.counts.faults;
    if (by.closed || by.crashed || competing_.contains(&by) || by.calls > 0 ||
        stage_.what.strangers > 0 || by.connections != 1 ||
        std::any_of(faults.begin(), faults.end(), [](std::uint64_t n) { return n > 0; })) {
        return;
    }
    testing::counters most;
    for (const auto& o : observations_) {
        if (o->by.get() != &by) {
            continue;
        }
        if (!o->counted) {
            return;
        }
        most.children += o->most.children;
        most.gets += o->most.gets;
    }
    ++stage_.counts.budgets;
    if (by.asked.children > most.children || by.asked.gets > most.gets) {
        stage_.broken("I11",
                      "client " + std::to_string(by.number) + " only observes, and sent " +
                          std::to_string(by.asked.children) + " lists and " +
                          std::to_string(by.asked.gets) + " gets instead of " +
                          std::to_string(most.children) + " and " + std::to_string(most.gets));
    }
}

}  // namespace latchkey::simulation

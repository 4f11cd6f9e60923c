#include "multi_mutex_judge.hpp"

#include <algorithm>

namespace latchkey::simulation {

// ---- granted ----

void multi_mutex_judge::check_token(const call& c, const hold& h, const participants& places) {
    if (c.directories.size() == 1) {
        return judge::check_token(c, h, places);
    }
    bool whole = places.size() == c.directories.size();
    for (std::size_t i = 0; whole && i < places.size(); ++i) {
        whole =
            places[i]->directory == c.directories[i] && places[i]->czxid == places.front()->czxid;
    }
    if (!whole) {
        return stage_.broken("I1",
                             c.who + " was granted " + std::to_string(places.size()) + " of " +
                                 std::to_string(c.directories.size()) +
                                 " places, or such as were not created at once");
    }
    const std::int64_t token = h.token().zxid;
    if (token < places.front()->czxid) {
        return stage_.broken("I3", c.who + "'s token is older than its places");
    }
    for (const auto& mine : places) {
        const auto& history = truth_.history_of(mine->directory);
        const auto next = std::find_if(history.begin(), history.end(), [&](const auto& entry) {
            const participant& other = *entry.second;
            // No participant was granted behind an own place that is still there.
            const bool left = !other.there() && (mine->there() || other.gone < mine->gone);
            return other.czxid > mine->czxid && !other.foreign() && !left;
        });
        if (next != history.end() && next->second->czxid <= token) {
            return stage_.broken("I3",
                                 c.who + "'s token is not below that of " + next->second->path);
        }
    }
}

void multi_mutex_judge::answering(const model::connection& c, const request& r, result_code code) {
    judge::answering(c, r, code);
    const auto read = r.what == request::kind::get ? truth_.find(r.path) : nullptr;
    if (read != nullptr && read->owner == c.session) {
        read_.insert(r.path);
    }
}

/// What was gone in one directory never was the first everywhere after that, and that is known, if
/// nothing has kept it from being watched. Who has to wait anywhere reads all of its places; who
/// has not may read the first one, for the token.
void multi_mutex_judge::check_first(const call& c, const participants& places) {
    const bool waited = std::any_of(places.begin() + 1, places.end(), [this](const auto& place) {
        return read_.contains(place->path);
    });
    const bool undisturbed =
        waited && stage_.disturbances == 0 && c.by->connections == c.connections_before;
    const participant* first_gone = nullptr;
    for (const auto& place : places) {
        if (undisturbed && !place->there() &&
            (first_gone == nullptr || place->gone < first_gone->gone)) {
            first_gone = place.get();
        }
    }
    for (const auto& place : places) {
        participant whole = *place;
        if (first_gone != nullptr) {
            whole.how = first_gone->how;
            whole.gone = first_gone->gone;
        }
        check_was_first(c.who, place->directory, whole, c.what);
    }
}

std::optional<testing::counters> multi_mutex_judge::budget(const call& c, const hold& h) const {
    const std::size_t n = c.directories.size();
    if (n == 1) {
        return judge::budget(c, h);
    }
    const std::uint64_t woken = c.by->wake_ups - c.wake_ups_before;
    testing::counters most;
    for (const std::string& path : h.paths()) {
        most.creates += levels_of(*c.by, path);
    }
    most.multis = c.times.lock_delay > duration{} ? 2 : 1;
    most.children = n * (c.tries() ? 2 : 1) + woken;
    // A read for the token, a second one if others came meanwhile; and two watches a directory.
    most.gets = 2 + (woken > 0 ? 2 * n + woken : 0);
    return most;
}

// ---- given up ----

void multi_mutex_judge::released(const held& h) {
    farewell f{.places = h.others, .by = h.by, .since = stage_.now()};
    f.places.push_back(h.place);
    f.disturbances = stage_.disturbances;
    f.pauses = h.by->pauses;
    const bool whole =
        std::all_of(f.places.begin(), f.places.end(), [](const auto& p) { return p->there(); });
    const bool refused = stage_.what.uses(fault::access_taken);
    if (f.places.size() > 1 && whole && !refused && !is_over(h) && undisturbed(f)) {
        farewells_.push_back(std::move(f));
    }
}

bool multi_mutex_judge::undisturbed(const farewell& f) const {
    const client_record& by = *f.by;
    return stage_.troubles == 0 && stage_.disturbances == f.disturbances && !by.paused &&
           by.pauses == f.pauses && !by.closed && stage_.last_cut < f.since &&
           by.connected_at < f.since;
}

/// Who loses one place gives up the others, and the watches in their queues stay.
void multi_mutex_judge::removed(const participant& p) {
    judge::removed(p);
    if (client_record* const by = client_of(p.owner); by != nullptr) {
        by->abandoned += p.how == participant::ending::taken ? queues_watched_.size() - 1 : 0;
    }
}

/// One request that deletes all.
void multi_mutex_judge::applied(const model::transaction&, const participants& changed) {
    for (const auto& gone : changed) {
        const auto f = std::find_if(farewells_.begin(), farewells_.end(), [&](const farewell& one) {
            return std::find(one.places.begin(), one.places.end(), gone) != one.places.end();
        });
        if (gone->there() || f == farewells_.end()) {
            continue;
        }
        for (const auto& other : f->places) {
            if (gone->how == participant::ending::released && other->there() && undisturbed(*f)) {
                stage_.broken("I1", gone->path + " was given up before " + other->path);
            }
        }
        farewells_.erase(f);
    }
}

}  // namespace latchkey::simulation

#include "double_barrier_log.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

namespace latchkey::simulation {
namespace {

const std::string ready = "/ready";

/// The directory of a znode `ready`; none of another znode.
std::optional<std::string> directory_of_ready(const std::string& path) {
    return path.ends_with(ready) ? std::optional(path.substr(0, path.size() - ready.size()))
                                 : std::nullopt;
}

}  // namespace

const std::vector<double_barrier_log::round>& double_barrier_log::rounds_of(
    const std::string& directory) const {
    static const std::vector<round> none;
    const auto found = places_.find(directory);
    return found == places_.end() ? none : found->second.rounds;
}

bool double_barrier_log::is_on(const std::string& directory) const {
    const auto found = places_.find(directory);
    return found != places_.end() && found->second.on != nullptr;
}

std::uint64_t double_barrier_log::gone_since(const std::string& directory, duration when) const {
    const auto found = places_.find(directory);
    return found == places_.end()
               ? 0
               : static_cast<std::uint64_t>(std::count_if(
                     found->second.gone.begin(), found->second.gone.end(), [when](duration t) {
                         return t >= when;
                     }));
}

void double_barrier_log::applied(const model::transaction& t, const participants& changed) {
    using enum model::change::kind;
    std::set<std::string> written;
    for (const model::change& c : t.changes) {
        if (c.what == set_data) {
            written.insert(c.path);
        } else if (c.what == create) {
            data_[c.path] = c.data;
            if (const auto directory = directory_of_ready(c.path)) {
                begins(t, *directory, c.data);
            }
        } else if (c.what == remove) {
            if (const auto directory = directory_of_ready(c.path)) {
                cleared(t, *directory);
            } else if (places_.contains(c.path)) {
                for (const auto& r : places_[c.path].rounds) {
                    r->meddled = true;  // nothing is left of what told of it
                }
            }
        }
    }
    for (const auto& p : changed) {
        if (p->how == participant::ending::released && written.contains(p->directory)) {
            left_.insert(p->czxid);
        }
        if (!p->there()) {
            places_[p->directory].gone.push_back(stage_.now());
        }
    }
}

/// Everybody in it is there, and nobody is in an earlier one.
void double_barrier_log::begins(const model::transaction& t,
                                const std::string& directory,
                                const std::string& data) {
    place& here = places_[directory];
    const auto r = std::make_shared<barrier_round_record>();
    r->zxid = t.zxid;
    const auto json = nlohmann::json::parse(data, nullptr, false);
    if (!json.is_object() || !json.contains("members")) {
        return stage_.broken("I9", "a round has no list of its members: " + data);
    }
    for (const auto& name : json["members"]) {
        const auto p = truth_.find(directory + '/' + name.get<std::string>());
        if (p == nullptr) {
            return stage_.broken("I1", "a round begins with one who never was there: " + data);
        }
        r->members.push_back(p);
    }
    ++stage_.counts.rounds;
    stage_.tell("    a round begins: ", data);
    check_members(directory, *r);
    here.on = r;
    here.rounds.push_back(r);
}

void double_barrier_log::check_members(const std::string& directory,
                                       const barrier_round_record& r) {
    if (r.members.size() < stage_.what.wanted) {
        stage_.broken("I1",
                      "a round begins with " + std::to_string(r.members.size()) + " instead of " +
                          std::to_string(stage_.what.wanted));
    }
    for (const auto& p : r.members) {
        if (!p->there()) {
            stage_.broken("I1", "a round begins with one who has gone, " + p->path);
        }
    }
    for (const round& earlier : rounds_of(directory)) {
        for (const auto& p : earlier->members) {
            if (p->there() && !earlier->meddled) {
                stage_.broken("I1", "a round begins while " + p->path + " is in an earlier one");
            }
        }
    }
}

/// A transaction cannot check which directory of a name it changes: who was in a round of the one
/// that the operator deleted may clear away the first round of the next one (docs/guarantees.md).
/// The next round then begins while some are in that one, and they do the same when they leave.
bool double_barrier_log::was_in_a_meddled_round(std::int64_t session,
                                                const std::string& directory) const {
    const auto& all = rounds_of(directory);
    return std::any_of(all.begin(), all.end(), [session](const round& r) {
        return r->meddled && std::any_of(r->members.begin(),
                                         r->members.end(),
                                         [session](const auto& p) { return p->owner == session; });
    });
}

void double_barrier_log::cleared(const model::transaction& t, const std::string& directory) {
    const round over = std::exchange(places_[directory].on, nullptr);
    if (over == nullptr) {
        return;
    }
    over->meddled = over->meddled || t.session == 0 || was_in_a_meddled_round(t.session, directory);
    for (const auto& p : over->members) {
        if (p->there() && !over->meddled) {
            stage_.broken("I1", "a round was cleared away with " + p->path + " in it");
        }
    }
}

}  // namespace latchkey::simulation

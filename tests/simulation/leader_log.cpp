#include "leader_log.hpp"

#include "judge.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

namespace latchkey::simulation {

namespace {

constexpr std::string_view mark_scheme = "digest";
constexpr std::string_view mark = "candidacy:";

}  // namespace

leader_log::leader_log(stage& s,
                       truth& t,
                       const std::set<std::string>& directories,
                       const candidacies& all)
    : stage_(s), truth_(t), all_(all) {
    for (const std::string& directory : directories) {
        elections_[directory];
    }
}

bool leader_log::was_foreign(const std::string& directory) const {
    return elections_.at(directory).was_foreign;
}

std::optional<leader_log::record> leader_log::read(const std::string& data) {
    const auto json = nlohmann::json::parse(data, nullptr, false);
    if (!json.is_object() || !json.contains("leader")) {
        return std::nullopt;
    }
    return record{.leader = json.value("leader", ""),
                  .data = json.value("data", ""),
                  .znode = json.value("znode", ""),
                  .unclean = json.value("unclean", ""),
                  .token = json.value("token", std::int64_t{0}),
                  .turn = json.value("turn", std::uint32_t{0}),
                  .version = json.value("version", std::int32_t{0}),
                  .clean = json.value("state", "") == "clean",
                  .successor = json.value("successor", "")};
}

acl leader_log::mark_of(const candidacy& c) {
    acl access = open_unsafe_acl();
    // In the place of a hash, which has 28 characters.
    const std::string number = std::to_string(c.number);
    access.push_back({std::string(mark_scheme),
                      std::string(mark) + std::string(27 - number.size(), '0') + number + '=',
                      permission::all});
    return access;
}

std::shared_ptr<candidacy> leader_log::maker_of(const std::string& path) const {
    const auto found = makers_.find(path);
    return found == makers_.end() ? nullptr : found->second;
}

// ---- the log ----

void leader_log::applied(const model::transaction& t) {
    using enum model::change::kind;
    for (const model::change& c : t.changes) {
        if (c.what == create && c.access->back().id.starts_with(mark)) {
            makers_[c.path] = all_.at(std::stoul(c.access->back().id.substr(mark.size())));
        }
        const auto found = elections_.find(c.path);
        if (found != elections_.end() && c.what != set_acl && c.what != set_counter) {
            written(t, c, found->second);
        } else if (c.what == set_data && t.session != 0 && truth_.find(c.path) != nullptr &&
                   (stage_.recipe.names().twins || c.data != data_[c.path])) {
            // Of a mutex, an unknown outcome may cause a write of the same data.
            stage_.broken("I9", "somebody set the data of a candidate's znode, " + c.path);
        }
        if (c.what == create || c.what == set_data) {
            data_[c.path] = c.data;
        }
    }
}

void leader_log::written(const model::transaction& t, const model::change& c, election& e) {
    if (c.what != model::change::kind::set_data) {
        e.foreign = false;
        e.states.push_back({t.zxid, std::nullopt});
        return;
    }
    stage_.tell("    the record: ", c.data);
    const bool was_foreign = e.foreign;
    const auto r = read(c.data);
    const bool by_mutex = c.data.starts_with(mark_of_first);
    e.foreign = !r && !c.data.empty() && !by_mutex;
    if (t.session == 0) {
        e.touched = true;
        e.replaced = true;
        e.was_foreign = e.was_foreign || e.foreign;
    } else if (was_foreign) {
        stage_.broken("I5", "somebody's data was overwritten with " + c.data);
    } else if (by_mutex) {
        // Over no record: the judge of mutexes sees to it.
    } else if (!r) {
        stage_.broken("I9", "a session wrote what is no record: " + c.data);
    } else {
        if (r->version != c.number) {
            stage_.broken("I9",
                          "a record of version " + std::to_string(c.number) + " says " +
                              std::to_string(r->version));
        }
        check_record(t, c.path, *r);
    }
    e.states.push_back({t.zxid, r});
}

/// It tells of its writer, who was the first in the queue, and was still there.
void leader_log::check_record(const model::transaction& t,
                              const std::string& directory,
                              const record& r) {
    const auto writer = truth_.find(directory + '/' + r.znode);
    if (writer == nullptr || writer->owner != t.session) {
        return stage_.broken("I9", "a record names what is not its writer's: " + r.znode);
    }
    check_writer(t, *writer, r);
    check_successor(*writer, r);
    election& e = elections_[directory];
    const auto named = e.named.find(writer->path);
    const fencing_token token{r.token, r.turn};
    const auto [begun, first] =
        e.begun.emplace(writer->path, r.token != 0 ? token : fencing_token{t.zxid, 0});
    if (std::exchange(e.replaced, false) && r.token == 0) {
        begun->second = {t.zxid,
                         0};  // the first write was not heard of, and cannot be seen any more
    } else if (r.token == 0 ? !first : token != begun->second) {
        stage_.broken("I3", "a record gives " + writer->path + " another token");
    } else if (first && r.token != 0 && token != fencing_token{writer->czxid, 0} &&
               (named == e.named.end() || token != named->second.token)) {
        stage_.broken("I3", "a record tells of a token that " + writer->path + " never had");
    }
    check_before(*writer, r, e);
    const bool by_another = std::exchange(e.last_writer, writer->path) != writer->path;
    if (!r.clean) {
        published(r.data, e, by_another);
    }
}

/// What is taken over from the record of before: who has not given up, and what was published.
void leader_log::check_before(const participant& writer, const record& r, const election& e) {
    const auto maker = maker_of(writer.path);
    if (maker == nullptr || r.leader != maker->who) {
        return stage_.broken("I9", "a record gives " + writer.path + " another id, " + r.leader);
    }
    if (e.touched) {
        return;
    }
    const record last = e.states.empty() ? record() : e.states.back().is.value_or(record());
    const bool own = last.znode == last_name(writer.path);
    const bool refused = stage_.what.uses(fault::access_taken) ||  // perhaps, the first time
                         (maker->selects && maker->data.empty());
    if (own ? r.clean && r.data != last.data : !refused && r.data != maker->data) {
        return stage_.broken("I9", writer.path + " does not publish what it has to: " + r.data);
    }
    const auto named = e.named.find(writer.path);
    const bool told = named != e.named.end() && last_name(named->second.by) == last.znode;
    const bool died = !own && !last.clean && last.leader != r.leader;
    const std::string& unclean = died ? last.leader : last.unclean;
    const std::string expected = maker->selects || unclean == r.leader ? std::string() : unclean;
    // The message that the leader ahead has given up may have come ahead of its record.
    const bool as_told = told && r.unclean == (last.unclean == r.leader ? "" : last.unclean);
    if (r.unclean != expected && !as_told) {
        stage_.broken("I9",
                      "a record says that \"" + r.unclean + "\" has not given up, instead of \"" +
                          expected + '"');
    }
}

void leader_log::check_writer(const model::transaction& t,
                              const participant& writer,
                              const record& r) {
    const bool leaves = writer.gone == t.zxid;
    if (!writer.there() && !leaves) {
        stage_.broken("I9", "a record was written by one who was gone, " + writer.path);
    }
    if (r.clean != leaves) {
        stage_.broken(
            "I9",
            writer.path + (leaves ? " left and" : " stays and did not but") + " says the opposite");
    }
    if (leaves) {
        check_gave_up(writer);
    }
    for (const auto& [place, other] : truth_.queue_of(writer.directory)) {
        if (place < writer.place && !other->foreign() && !other->handed_on) {
            return stage_.broken(
                "I4", writer.path + " wrote the record while " + other->path + " was ahead");
        }
    }
}

/// A leader that leaves may name one behind it. That one uses the name only if it is the first
/// then.
void leader_log::check_successor(const participant& writer, const record& r) {
    if (r.successor.empty()) {
        return;
    }
    const auto next = truth_.find(writer.directory + '/' + r.successor);
    if (!r.clean || next == nullptr || next->number < writer.number || next->path == writer.path) {
        return stage_.broken("I9",
                             writer.path + " names a successor it cannot have: " + r.successor);
    }
    name(writer, r);
}

void leader_log::name(const participant& writer, const record& r) {
    elections_[writer.directory].named[writer.directory + '/' + r.successor] = {
        {r.token, r.turn + 1}, writer.path};
}

void leader_log::told(const participant& leader, const std::string& text) {
    const auto r = read(text);
    if (!r || !r->clean || r->znode != last_name(leader.path) || r->successor.empty()) {
        return stage_.broken("I9", leader.path + " tells the next one what is no record: " + text);
    }
    if (const auto maker = maker_of(leader.path); maker != nullptr && maker->offered) {
        return stage_.broken("I9", leader.path + " tells the next one after an offer");
    }
    name(leader, *r);
}

/// It has resigned or was closed, or has handed over: before its term was told, or because it took
/// too long to finish.
void leader_log::check_gave_up(const participant& writer) {
    const auto maker = maker_of(writer.path);
    if (maker == nullptr) {
        return;
    }
    const candidacy& c = *maker;
    bool gave_up = c.closed || c.by->closed;
    if (c.led_as(writer.path)) {
        const bool drained = c.asked_back && c.takes_part() &&
                             stage_.now() >= *c.asked_back + c.by->lasting(c.preference->drain);
        gave_up = c.handle.why_lost() == loss_reason::resigned && (gave_up || c.gave_up || drained);
    } else {
        gave_up = gave_up || writer.successor != nullptr;
    }
    if (!gave_up) {
        stage_.broken("I9", writer.path + " did not give up, and its record is clean");
    }
}

void leader_log::check_present(const candidacy& c, const participant& place) const {
    const election& e = elections_.at(c.directory);
    if (e.foreign || e.replaced || e.states.empty()) {
        return;
    }
    const auto& r = e.states.back().is;
    if (!r || r->znode != last_name(place.path) || r->clean) {
        stage_.broken("I9", c.who + " leads, and the record tells of " + (r ? r->znode : "nobody"));
    }
}

// ---- who has failed ----

/// Whether each, and any, of the records that can have been read since tells of it.
template <class Reading>
std::pair<bool, bool> leader_log::read_since(const participant& place,
                                             const Reading& failed) const {
    const auto& states = elections_.at(place.directory).states;
    auto first = std::upper_bound(
        states.begin(), states.end(), place.czxid, [](std::int64_t zxid, const state& s) {
            return zxid < s.zxid;
        });
    first = first == states.begin() ? first : std::prev(first);
    const auto tells = [&](const state& s) {
        return s.is && failed(*s.is, std::max(s.zxid, place.czxid));
    };
    return {first != states.end() && std::all_of(first, states.end(), tells),
            std::any_of(first, states.end(), tells)};
}

bool leader_log::has_failed(const candidacy& c, const participant& place) const {
    return read_since(place,
                      [&](const record& r, std::int64_t then) {
                          const auto its = truth_.find(place.directory + '/' + r.znode);
                          const bool gone = its == nullptr || (!its->there() && its->gone <= then);
                          return r.unclean == c.who || (!r.clean && r.leader == c.who && gone);
                      })
        .first;
}

bool leader_log::may_have_failed(const candidacy& c, const participant& place) const {
    return read_since(place,
                      [&](const record& r, std::int64_t) {
                          return r.unclean == c.who || (!r.clean && r.leader == c.who &&
                                                        r.znode != last_name(place.path));
                      })
        .second;
}

// ---- tokens ----

void leader_log::check_token(const std::string& who,
                             const participant& place,
                             fencing_token token) {
    const election& e = elections_.at(place.directory);
    const auto begun = e.begun.find(place.path);
    const auto named = e.named.find(place.path);
    const fencing_token right = begun != e.begun.end()   ? begun->second
                                : named != e.named.end() ? named->second.token
                                                         : fencing_token{place.czxid, 0};
    const bool named_only = begun == e.begun.end() && named != e.named.end();
    // What names it may have been lost: the message, or the last transaction.
    if (token != right && !(named_only && token == fencing_token{place.czxid, 0})) {
        stage_.broken(
            "I3", who + " leads with " + token.to_string() + " instead of " + right.to_string());
    }
}

void leader_log::check_newest(const std::string& who,
                              const participant& place,
                              fencing_token token) {
    const election& e = elections_.at(place.directory);
    const auto check = [&](const std::string& path, fencing_token other) {
        if (path != place.path && other >= token) {
            stage_.broken("I3",
                          who + " leads with " + token.to_string() + " after " + path + " with " +
                              other.to_string());
        }
    };
    for (const auto& [path, begun] : e.begun) {
        check(path, begun);
    }
    for (const auto& [path, next] : e.named) {
        check(path, next.token);
    }
}

}  // namespace latchkey::simulation

#include "turn_log.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <map>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace latchkey::history {
namespace {

using nlohmann::json;

json line(std::int64_t attempt, const char* what, nanoseconds at) {
    return {{"attempt", attempt}, {"what", what}, {"at", at.count()}};
}

json with(json all, const observation& o) {
    all["valid"] = o.valid;
    all["until"] = o.valid_until.count();
    return all;
}

nanoseconds time_of(const json& all, const char* name = "at") {
    return nanoseconds(all.at(name).get<std::int64_t>());
}

observation observed(const json& all) {
    return {time_of(all), all.at("valid").get<bool>(), time_of(all, "until")};
}

wish asked_for(const json& all) {
    wish w{.locks = all.at("locks").get<std::vector<std::string>>(),
           .mode = all.at("mode").get<lock_mode>(),
           .permits = all.at("permits").get<std::uint32_t>(),
           .silent = all.at("silent").get<bool>(),
           .shares_place = all.value("shares place", false)};
    if (const auto converts = all.find("converts"); converts != all.end()) {
        w.converts = converts->get<std::int64_t>();
    }
    return w;
}

/// What of an attempt for several locks concerns one of them.
turn part_of(const turn& whole, const std::string& lock) {
    turn part = whole;
    part.lock = lock;
    std::erase_if(part.znodes,
                  [&](const std::string& znode) { return !znode.starts_with(lock + '/'); });
    return part;
}

/// Another thread than that of the grant reports it, perhaps a moment later.
void add_place(turn& t, std::string znode) {
    if (!t.granted) {
        t.znodes.push_back(std::move(znode));
    } else if (std::find(t.znodes.begin(), t.znodes.end(), znode) == t.znodes.end()) {
        t.znodes.insert(t.znodes.begin(), std::move(znode));
    }
}

void add_to(turn& t, const json& all) {
    const auto what = all.at("what").get<std::string>();
    if (what == "reserved") {
        add_place(t, all.at("znode").get<std::string>());
    } else if (what == "granted") {
        for (auto& znode : all.at("znodes").get<std::vector<std::string>>()) {
            if (std::find(t.znodes.begin(), t.znodes.end(), znode) == t.znodes.end()) {
                t.znodes.push_back(std::move(znode));
            }
        }
        t.granted = time_of(all);
        t.token = all.at("token").get<std::int64_t>();
        t.session = all.at("session").get<std::int64_t>();
        t.observations.push_back(observed(all));
    } else if (what == "saw") {
        t.observations.push_back(observed(all));
    } else if (what == "wrote") {
        t.effects.push_back({time_of(all), all.at("applied").get<bool>()});
    } else if (what == "guarded") {
        t.guarded.push_back({.token = all.at("token").get<std::int64_t>(),
                             .number = all.at("number").get<std::int64_t>(),
                             .told = all.at("told").get<guarded_effect::outcome>()});
    } else if (what == "ended") {
        t.ended = time_of(all);
    } else if (what == "leaving") {
        t.leaving = time_of(all);
    } else if (what == "left") {
        t.ended = time_of(all);
        t.all_left = all.at("all").get<bool>();
    } else if (what == "failed") {
        t.ended = time_of(all);
        t.failure = all.at("why").get<std::string>();
    } else {
        throw std::runtime_error("a turn cannot have " + what);
    }
}

void add_to(observer& o, const json& all) {
    const auto what = all.at("what").get<std::string>();
    if (what == "observes") {
        o.begun = time_of(all);
        o.lock = all.at("lock").get<std::string>();
    } else if (what == "observed") {
        o.told.push_back({.at = time_of(all),
                          .znode = all.at("znode").get<std::string>(),
                          .token = all.at("token").get<std::int64_t>()});
    } else if (what == "observed last") {
        o.ended = time_of(all);
    } else {
        throw std::runtime_error("an observer cannot have " + what);
    }
}

}  // namespace

turn_log::turn_log(const std::filesystem::path& file)
    : file_(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
    if (file_ < 0) {
        throw std::system_error(errno, std::generic_category(), file.string());
    }
}

turn_log::~turn_log() {
    ::close(file_);
}

void turn_log::write(std::string line) const {
    line += '\n';
    if (::write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
        throw std::system_error(errno, std::generic_category(), "cannot write the history");
    }
}

void turn_log::session(std::int64_t id) {
    write(json{{"what", "session"}, {"session", id}}.dump());
}

void turn_log::invoked(std::int64_t attempt, nanoseconds at, const wish& asked) {
    json all = line(attempt, "invoked", at);
    all["locks"] = asked.locks;
    all["mode"] = asked.mode;
    all["permits"] = asked.permits;
    all["silent"] = asked.silent;
    if (asked.shares_place) {
        all["shares place"] = true;
    }
    if (asked.converts) {
        all["converts"] = *asked.converts;
    }
    write(all.dump());
}

void turn_log::reserved(std::int64_t attempt, const std::string& znode) {
    write(json{{"attempt", attempt}, {"what", "reserved"}, {"znode", znode}}.dump());
}

void turn_log::granted(std::int64_t attempt,
                       std::int64_t token,
                       const std::vector<std::string>& znodes,
                       std::int64_t session,
                       const observation& first) {
    json all = with(line(attempt, "granted", first.at), first);
    all["token"] = token;
    all["znodes"] = znodes;
    all["session"] = session;
    write(all.dump());
}

void turn_log::saw(std::int64_t attempt, const observation& o) {
    write(with(line(attempt, "saw", o.at), o).dump());
}

void turn_log::wrote(std::int64_t attempt, const effect& e) {
    json all = line(attempt, "wrote", e.at);
    all["applied"] = e.applied;
    write(all.dump());
}

void turn_log::guarded(std::int64_t attempt, const guarded_effect& e) {
    write(json{{"attempt", attempt},
               {"what", "guarded"},
               {"token", e.token},
               {"number", e.number},
               {"told", e.told}}
              .dump());
}

void turn_log::ended(std::int64_t attempt, nanoseconds at) {
    write(line(attempt, "ended", at).dump());
}

void turn_log::leaving(std::int64_t attempt, nanoseconds at) {
    write(line(attempt, "leaving", at).dump());
}

void turn_log::left(std::int64_t attempt, nanoseconds at, bool all_of_them) {
    json all = line(attempt, "left", at);
    all["all"] = all_of_them;
    write(all.dump());
}

void turn_log::failed(std::int64_t attempt, nanoseconds at, const std::string& why) {
    json all = line(attempt, "failed", at);
    all["why"] = why;
    write(all.dump());
}

void turn_log::observes(std::int64_t number, nanoseconds at, const std::string& lock) {
    write(json{{"observer", number}, {"what", "observes"}, {"at", at.count()}, {"lock", lock}}
              .dump());
}

void turn_log::observed(std::int64_t number, const observer::sighting& s) {
    write(json{{"observer", number},
               {"what", "observed"},
               {"at", s.at.count()},
               {"znode", s.znode},
               {"token", s.token}}
              .dump());
}

void turn_log::observed_last(std::int64_t number, nanoseconds at) {
    write(json{{"observer", number}, {"what", "observed last"}, {"at", at.count()}}.dump());
}

void read_turns(const std::filesystem::path& file, int worker, history& to) {
    std::ifstream in(file);
    std::map<std::int64_t, turn> turns;
    std::map<std::int64_t, observer> observers;
    for (std::string text; std::getline(in, text) && !in.eof();) {
        const json all = json::parse(text);
        const auto what = all.at("what").get<std::string>();
        if (what == "session") {
            to.sessions[all.at("session").get<std::int64_t>()] = worker;
            continue;
        }
        if (all.contains("observer")) {
            add_to(observers[all.at("observer").get<std::int64_t>()], all);
            continue;
        }
        const auto attempt = all.at("attempt").get<std::int64_t>();
        if (what == "invoked") {
            turn& t = turns[attempt];
            t.worker = worker;
            t.attempt = attempt;
            t.asked = asked_for(all);
            t.invoked = time_of(all);
        } else if (const auto found = turns.find(attempt); found != turns.end()) {
            add_to(found->second, all);
        } else {
            throw std::runtime_error(file.string() + ": a turn that was never begun");
        }
    }
    for (const auto& [attempt, t] : turns) {
        for (const std::string& lock : t.asked.locks) {
            to.turns.push_back(part_of(t, lock));
        }
    }
    for (auto& [number, o] : observers) {
        o.worker = worker;
        o.number = number;
        to.observers.push_back(std::move(o));
    }
}

}  // namespace latchkey::history

#include "serve/snapshot.hpp"

#include "serve/http_messages.hpp"
#include "serve/reading_changes.hpp"

namespace latchkey::cli {

std::chrono::milliseconds snapshot::age(std::chrono::steady_clock::time_point now) const {
    return last() == nullptr
               ? std::chrono::milliseconds()
               : std::chrono::duration_cast<std::chrono::milliseconds>(now - last()->began);
}

json_object snapshot::reading_json() const {
    using ms = std::chrono::milliseconds;
    json_object o{{"time", nullptr},
                  {"took_ms", nullptr},
                  {"every_ms", std::chrono::duration_cast<ms>(progress_.every).count()},
                  {"locks", 0},
                  {"unreadable", 0},
                  {"znodes", 0},
                  {"ending", nullptr},
                  {"error", nullptr}};
    if (const reading* r = last()) {
        o["time"] = time_text(r->at);
        o["took_ms"] = std::chrono::duration_cast<ms>(r->took).count();
        o["locks"] = r->total.locks;
        o["unreadable"] = r->total.unreadable;
        o["znodes"] = r->total.znodes;
        o["ending"] = to_string(r->total.end);
    }
    if (!progress_.error.empty()) {
        o["error"] = progress_.error;
    }
    return o;
}

snapshot::text snapshot::once(text& made, std::string (snapshot::*make)() const) const {
    const std::lock_guard lock(guard_);
    if (!made) {
        made = std::make_shared<const std::string>((this->*make)());
    }
    return made;
}

std::string snapshot::make_locks() const {
    json_object o{{"reading", reading_json()},
                  {"locks", json_object::array()},
                  {"unreadable", json_object::array()}};
    if (const reading* r = last()) {
        for (const auto& [path, e] : r->locks) {
            o["locks"].push_back(summary_json(e));
        }
        for (const auto& [path, e] : r->unreadable) {
            o["unreadable"].push_back(json_of(e));
        }
    }
    return line_of(o);
}

std::string snapshot::make_locks_event() const {
    return *event_text("locks", make_locks());
}

std::string snapshot::make_graph() const {
    json_object o{{"reading", reading_json()},
                  {"waits", json_object::array()},
                  {"queues_left_out", 0},
                  {"findings", json_object::array()}};
    if (const reading* r = last()) {
        for (const lock_wait& w : r->waits) {
            o["waits"].push_back(json_of(w));
        }
        o["queues_left_out"] = r->queues_left_out;
        for (const finding& f : r->findings) {
            if (!f.waits.empty()) {
                o["findings"].push_back(json_of(f));
            }
        }
    }
    return line_of(o);
}

std::string snapshot::make_doctor() const {
    json_object o{{"reading", reading_json()}, {"findings", json_object::array()}};
    if (const reading* r = last()) {
        for (const finding& f : r->findings) {
            o["findings"].push_back(json_of(f));
        }
    }
    return line_of(o);
}

snapshot::text snapshot::lock(const std::string& path) const {
    const reading* r = last();
    if (r == nullptr || !r->locks.contains(path)) {
        return nullptr;
    }
    json_object o{{"reading", reading_json()}, {"lock", json_of(r->locks.at(path))}};
    return std::make_shared<const std::string>(line_of(o));
}

}  // namespace latchkey::cli

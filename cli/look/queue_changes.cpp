#include "look/queue_changes.hpp"

#include "look/queue_json.hpp"
#include "look/queue_text.hpp"
#include "text/escape.hpp"

#include <cstdint>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace latchkey::cli {

namespace {

/// No two znodes have both in common.
using znode_key = std::pair<std::int64_t, std::string>;

std::map<znode_key, const participant*> by_znode(const queue_view& v) {
    std::map<znode_key, const participant*> all;
    for (const participant& p : v.participants) {
        all.emplace(znode_key(p.czxid, p.path), &p);
    }
    return all;
}

const char* event_of(const participant& before, const participant& now) noexcept {
    if (before.holding != now.holding) {
        return now.holding ? "granted" : "demoted";
    }
    return before.mode != now.mode ? "mode" : nullptr;
}

}  // namespace

std::vector<queue_change> changes_between(const std::optional<queue_view>& before,
                                          const queue_view& now) {
    std::vector<queue_change> changes;
    const auto earlier = before ? by_znode(*before) : by_znode({});
    const auto present = by_znode(now);
    for (const auto& [znode, p] : earlier) {
        if (!present.contains(znode)) {
            changes.push_back({.event = p->holding ? "released" : "left", .who = *p});
        }
    }
    if (!before || before->kind != now.kind) {
        changes.push_back({.event = "kind"});
    }
    if (before ? before->malformed != now.malformed : !now.malformed.empty()) {
        changes.push_back({.event = "malformed", .names = now.malformed});
    }
    for (const participant& p : now.participants) {
        const auto known = earlier.find(znode_key(p.czxid, p.path));
        const char* event = known != earlier.end() ? event_of(*known->second, p)
                            : !before              ? "present"
                            : p.holding            ? "granted"
                                                   : "joined";
        if (event != nullptr) {
            changes.push_back({.event = event, .who = p});
        }
    }
    return changes;
}

std::string text_of(const queue_change& c, const queue_view& now) {
    if (c.who) {
        const participant& p = *c.who;
        return fmt::format("{:<8} {:<7} {:<9} {} {}",
                           c.event,
                           state_text(p, now.kind),
                           p.mode ? to_string(*p.mode) : "-",
                           who_text(p),
                           escaped(p.name));
    }
    std::string text = fmt::format("{:<8} {}", c.event, to_string(now.kind));
    for (const std::string& name : c.names) {
        text += ' ' + escaped(name);
    }
    return text;
}

nlohmann::ordered_json json_of(const queue_change& c, const queue_view& now) {
    json_object o{{"event", c.event}, {"path", now.path}, {"kind", to_string(now.kind)}};
    if (c.who) {
        o["participant"] = json_of(*c.who, now.kind);
    } else {
        o["malformed"] = now.malformed;
    }
    return o;
}

}  // namespace latchkey::cli

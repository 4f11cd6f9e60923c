#include "look/queue_json.hpp"

#include "look/queue_text.hpp"

#include <optional>

namespace latchkey::cli {

namespace {

json_object leader_json(const std::optional<leader_info>& leader) {
    if (!leader) {
        return nullptr;
    }
    json_object o{{"id", leader->id}, {"token", nullptr}, {"data", leader->data}};
    if (leader->token.zxid != 0) {
        o["token"] = leader->token.to_string();
    }
    o["node"] = leader->path;
    return o;
}

}  // namespace

json_object json_of(const participant& p, lock_kind k) {
    json_object o{
        {"position", p.position},
        {"state", state_text(p, k)},
        {"mode", nullptr},
        {"permits", p.permits},
        {"token", nullptr},
        {"id", p.id},
        {"host", nullptr},
        {"user", nullptr},
        {"program", nullptr},
        {"pid", nullptr},
        {"since", nullptr},
        {"created", nullptr},
        {"existed_ms", p.existed_for.count()},
        {"session", p.session_id != 0 ? json_object(session_text(p.session_id)) : nullptr},
        {"session_alive", nullptr},
        {"ephemeral", nullptr},
        {"library", to_string(p.library)},
        {"node", p.path},
        {"readable", p.readable},
        {"data", p.data}};
    if (!p.hidden()) {
        o["created"] = time_text(p.created);
        o["session_alive"] = p.session_alive;
        o["ephemeral"] = p.ephemeral;
    }
    if (p.mode) {
        o["mode"] = to_string(*p.mode);
    }
    if (p.token) {
        o["token"] = p.token->to_string();
    }
    if (p.identified) {
        o["host"] = p.identified->host;
        o["user"] = p.identified->user;
        o["program"] = p.identified->program;
        o["pid"] = p.identified->pid;
        o["since"] = time_text(p.identified->since);
    }
    return o;
}

json_object json_of(const queue_view& v) {
    json_object o{{"path", v.path},
                  {"kind", to_string(v.kind)},
                  {"holders", holders_in(v)},
                  {"waiters", v.participants.size() - holders_in(v)},
                  {"participants", json_object::array()},
                  {"leader", leader_json(v.leader)},
                  {"capacity", nullptr},
                  {"taken", nullptr},
                  {"sequence_left", nullptr},
                  {"malformed", v.malformed},
                  {"foreign", v.foreign},
                  {"delays", json_object::array()}};
    for (const auto& d : v.delays) {
        o["delays"].push_back({{"node", d.path}, {"delay_ms", d.length.count()}});
    }
    for (const participant& p : v.participants) {
        o["participants"].push_back(json_of(p, v.kind));
    }
    if (v.kind == lock_kind::semaphore || v.kind == lock_kind::curator_semaphore) {
        o["capacity"] = v.capacity != 0 ? json_object(v.capacity) : nullptr;
        o["taken"] = v.taken;
    }
    if (v.sequence_left) {
        o["sequence_left"] = *v.sequence_left;
    }
    return o;
}

json_object json_of(const lock_tree_entry& e) {
    if (e.ec) {
        return {{"type", "unreadable"}, {"path", e.view.path}, {"error", e.ec.message()}};
    }
    json_object o{{"type", "lock"}};
    o.update(json_of(e.view));
    o["waiters"] = e.waiting;
    return o;
}

json_object json_of(const lock_wait& w) {
    return {{"path", w.path},
            {"kind", to_string(w.kind)},
            {"waiter", json_of(w.waiter, w.kind)},
            {"blocker", json_of(w.blocker, w.kind)}};
}

}  // namespace latchkey::cli

#include "meeting_judge.hpp"

#include "ensemble/connection.hpp"

#include <algorithm>

namespace latchkey::simulation {

bool meeting_judge::ends(call& c, std::error_code ec, bool reached) {
    stage_.tell(c.who, " is told ", ec ? ec.message() : reached ? "yes" : "no");
    stage_.mark(static_cast<std::uint64_t>(ec.value()) * 2 + (reached ? 1 : 0));
    if (++c.told > 1) {
        stage_.broken("I9", c.who + " was told twice");
        return false;
    }
    std::erase_if(calls_, [&](const auto& other) { return other.get() == &c; });
    c.by->busy_until = stage_.now();
    check_punctuality(c);
    if (!reached) {
        check_refusal(c, ec);
    } else if (ec) {
        stage_.broken("I9", c.who + " was told an error together with a success");
    }
    return !stage_.over();
}

std::optional<duration> meeting_judge::due(const call& c) {
    std::optional<duration> when;
    if (c.limit) {
        when = std::max(c.ends(), c.begun);
    }
    return c.stopped && (!when || *c.stopped < *when) ? c.stopped : when;
}

void meeting_judge::check_watches(const model::connection& c, const client_record& by) {
    for (const std::string& path : c.child_watches) {
        if (!may_watch(path, c.session)) {
            return stage_.broken(
                "I6", "client " + std::to_string(by.number) + " watches the children of " + path);
        }
    }
}

void meeting_judge::check_robbed(const model::transaction& t, const participants& changed) {
    for (const auto& p : changed) {
        const client_record* const by = client_of(t.session);
        if (p->how == participant::ending::robbed && by != client_of(p->owner)) {
            stage_.broken("I5", "another client deleted " + p->path);
        }
    }
}

}  // namespace latchkey::simulation

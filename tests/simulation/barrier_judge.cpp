#include "barrier_judge.hpp"

namespace latchkey::simulation {

void barrier_judge::applied(const model::transaction& t, const participants& changed) {
    check_robbed(t, changed);
    using enum model::change::kind;
    for (const model::change& c : t.changes) {
        if (queues_watched_.contains(c.path) && (c.what == create || c.what == remove)) {
            barriers_[c.path] = {c.what == create, stage_.now()};
            stage_.tell("    ", c.path, c.what == create ? " stands" : " is gone");
        }
    }
}

bool barrier_judge::stands(const std::string& directory) const {
    const auto found = barriers_.find(directory);
    return found != barriers_.end() && found->second.stands;
}

bool barrier_judge::stood_since(const std::string& directory, duration begun) const {
    return stands(directory) && barriers_.at(directory).since < begun;
}

bool barrier_judge::was_gone_since(const std::string& directory, duration begun) const {
    const auto found = barriers_.find(directory);
    return found == barriers_.end() || (!found->second.stands && found->second.since < begun);
}

void barrier_judge::told(call& c, barrier_wish what, std::error_code ec, bool done) {
    if (!ends(c, ec, done)) {
        return;
    }
    const bool stood = stood_since(c.directory, c.begun);
    const bool gone = was_gone_since(c.directory, c.begun);
    if (what != barrier_wish::wait && !done && !ec && !c.stopped) {
        return stage_.broken("I9", c.who + " was told nothing");
    }
    if (what == barrier_wish::set) {
        return done && gone ? stage_.broken("I2", c.who + " has set what does not stand") : void();
    }
    if (what == barrier_wish::remove) {
        return done && stood ? stage_.broken("I2", c.who + " has removed what stands") : void();
    }
    stage_.counts.grants += done ? 1U : 0U;
    if (done && stood) {
        return stage_.broken("I1", c.who + " has passed, and the barrier stood all the time");
    }
    if (!done && !ec && c.tries() && !c.stopped && gone) {
        return stage_.broken("I9", c.who + " was told that a barrier stands that is gone");
    }
    check_requests(c);
}

bool barrier_judge::explains(const call&, std::error_code ec) const {
    return ec == errc::not_empty && stage_.what.uses(fault::foreign_child);
}

void barrier_judge::check_requests(const call& c) {
    const client_record& by = *c.by;
    if (!c.undisturbed || !quiet() || by.connections != c.connections_before ||
        by.calls != c.calls_before) {
        return;
    }
    const std::uint64_t woken = by.wake_ups - c.wake_ups_before;
    testing::counters most;
    most.gets = 1 + woken;
    most.syncs = 1;
    most.multis = 1;
    check_asked(c.who, c.asked_before, by.asked, most);
}

}  // namespace latchkey::simulation

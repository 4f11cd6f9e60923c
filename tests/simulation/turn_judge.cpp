#include "turn_judge.hpp"

#include "judge.hpp"

#include <algorithm>

namespace latchkey::simulation {

using namespace std::chrono_literals;

void turn_judge::joined(const participant& p) {
    arrivals_[p.czxid] = {stage_.now(), stage_.disturbances, stage_.troubles == 0};
}

/// Nothing has kept the client from learning of it.
bool turn_judge::hinders_nothing(const participant& waiting, const call& c) const {
    const auto found = arrivals_.find(waiting.czxid);
    if (found == arrivals_.end()) {
        return false;
    }
    const arrival& a = found->second;
    const client_record& by = *c.by;
    return a.quiet && stage_.troubles == 0 && stage_.disturbances == a.disturbances &&
           stage_.last_cut < a.at && by.connected_at < a.at && by.running_since < a.at &&
           !by.paused && !by.suspended;
}

bool turn_judge::is_turn(const participant& place, fencing_token token) {
    if (token.turn == 0) {
        first_turns_[place.path] = stage_.now();
        return false;
    }
    ++stage_.counts.turns;
    return true;
}

void turn_judge::granted(const call& c, const participant& place, fencing_token token) {
    if (!is_turn(place, token)) {
        return;
    }
    const auto& all = truth_.history_of(place.directory);
    const auto behind = std::find_if(all.upper_bound(place.place), all.end(), [&](const auto& one) {
        return one.second->there() && !one.second->foreign() && hinders_nothing(*one.second, c);
    });
    if (behind != all.end()) {
        pass(c, place, *behind->second, arrivals_.at(behind->second->czxid).at);
    }
}

void turn_judge::pass(const call& c,
                      const participant& place,
                      const participant& waiting,
                      duration since) {
    // It lists who is behind after the grant.
    const duration margin = stage_.hops(8) + 20ms;
    const duration known = std::max(since, first_turns_[place.path]) + margin;
    // Who may not read a directory for a while gets no event of it, and lists no more.
    if (stage_.now() <= known || stage_.last_refusal >= first_turns_[place.path]) {
        return;
    }
    ++stage_.counts.passes;
    if (++passes_[place.path] > c.times.local_passes) {
        stage_.broken("I15",
                      c.who + " had turn " + std::to_string(passes_[place.path]) + " in " +
                          place.path + " while " + waiting.path + " waited");
    }
    if (c.times.local_time > duration{} &&
        stage_.now() > known + c.by->lasting(c.times.local_time)) {
        stage_.broken("I15", c.who + " had a turn in " + place.path + " after local_time");
    }
}

}  // namespace latchkey::simulation

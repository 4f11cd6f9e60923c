#include "judge.hpp"

#include <algorithm>
#include <utility>

// The times that an object was told: max_hold and min_hold.

namespace latchkey::simulation {

using namespace std::chrono_literals;

bool judge::is_over(const held& h) {
    return h.by->clock->now() >= h.ends;
}

/// It was granted in this event, or, if its process has been stopped, before.
void judge::note_times(held& h) {
    const auto now = h.by->clock->now();
    if (h.times.max_hold > duration{}) {
        h.ends = now + h.times.max_hold;
    }
    const auto state = h.state.lock();
    if (state->valid_until() > h.ends) {
        stage_.broken("I13", h.who + " is valid for longer than its longest time");
    }
    if (h.times.min_hold > duration{} && h.told_at_once) {
        for (const auto& place : h.others) {
            stays_[place->path] = {h.by, now + h.times.min_hold};
        }
        stays_[h.place->path] = {h.by, now + h.times.min_hold};
    }
}

void judge::replaces(const participant& before, const participant& now) {
    if (auto found = stays_.extract(before.path)) {
        found.key() = now.path;
        stays_.insert(std::move(found));
    }
}

/// Given up by its program.
void judge::note_early(const held& h, loss_reason why) {
    const auto found = stays_.find(h.place->path);
    std::erase_if(deaths_, [&](const death& d) {
        const bool mine = d.place == h.place ||
                          std::find(h.others.begin(), h.others.end(), d.place) != h.others.end();
        return mine && !truth_.end_of(d.place->owner);  // it deletes its record
    });
    stage_.counts.timed_out += why == loss_reason::max_hold_passed ? 1U : 0U;
    stage_.counts.stayed +=
        found != stays_.end() && h.by->clock->now() < found->second.until ? 1U : 0U;
}

void judge::check_times(const held& h, bool believed) {
    const auto state = h.state.lock();
    if (!state || h.ends == boottime_clock::time_point::max()) {
        return;
    }
    const client_record& by = *h.by;
    const auto now = by.clock->now();
    const bool passed = state->why_lost() == loss_reason::max_hold_passed;
    if (believed && now > h.ends) {
        return stage_.broken("I13", h.who + " is valid after its longest time");
    }
    if (passed && now < h.ends && h.told_at_once) {
        return stage_.broken("I13", h.who + " was lost before its longest time had passed");
    }
    const bool undisturbed = h.troubles_before == 0 && stage_.troubles == 0 &&
                             stage_.disturbances == h.disturbances_before && h.told_at_once &&
                             !by.paused && !by.ended && !by.suspended && !by.closed && !h.from &&
                             stage_.last_cut < h.taken_at && by.connected_at < h.taken_at &&
                             !stage_.what.uses(fault::access_taken);
    const duration margin = stage_.hops(8) + 20ms;
    const bool had_time =
        now > h.ends + margin && stage_.now() > std::max(h.taken_at, by.running_since) + margin;
    if (!passed || !undisturbed || !had_time) {
        return;
    }
    const auto is_there = [](const auto& place) { return place->there(); };
    if (h.place->there() || std::any_of(h.others.begin(), h.others.end(), is_there)) {
        stage_.broken("I13", h.who + " keeps its place after its longest time");
    }
}

/// Not by its own session, and not because its program is done with it.
void judge::note_death(const participant& gone) {
    using enum participant::ending;
    for (const held* const h : holds_) {
        const bool is_it = h->place->path == gone.path ||
                           std::any_of(h->others.begin(), h->others.end(), [&](const auto& other) {
                               return other->path == gone.path;
                           });
        // A writer may have become a reader on the servers, and have been lost before it was told.
        if (!is_it || h->times.lock_delay == duration{} || gone.shared ||
            h->as.mode == lock_mode::shared || h->by->closed || is_over(*h) ||
            (gone.how != expired && gone.how != taken) ||
            records_removed_.contains(gone.directory + gone.number)) {
            continue;
        }
        const double lasts =
            static_cast<double>(h->times.lock_delay.count()) / (1 + stage_.what.drift + 1e-6);
        deaths_.push_back({truth_.find(gone.path),
                           h->by,
                           h->ends,
                           !truth_.end_of(gone.owner),
                           stage_.now() + duration(static_cast<duration::rep>(lasts))});
    }
}

void judge::check_delays(const std::string& who, const participant& place) {
    for (death& d : deaths_) {
        if (d.place->directory != place.directory || place.place <= d.place->place ||
            d.by->clock->now() >= d.ends || (d.by->closed && d.in_session)) {
            continue;
        }
        stage_.counts.delayed += std::exchange(d.counted, true) ? 0U : 1U;
        if (stage_.now() < d.until) {
            stage_.broken("I14",
                          who + " was granted " + std::to_string((d.until - stage_.now()) / 1us) +
                              " us before the delay of " + d.place->path + " had passed");
        }
    }
}

/// By an operator: there is no delay any more.
void judge::note_record_removed(const std::string& path) {
    const std::string directory = path.substr(0, path.rfind('/'));
    records_removed_.insert(directory + path.substr(path.size() - 10));
    std::erase_if(deaths_, [&](const death& d) {
        return records_removed_.contains(d.place->directory + d.place->number);
    });
}

/// By its own session. While a hold is being changed, another place may take this one's.
void judge::check_stayed(const participant& gone) {
    const auto found = stays_.find(gone.path);
    if (found == stays_.end()) {
        return;
    }
    const stay s = found->second;
    const bool early = s.by->clock->now() < s.until;
    const bool is_changed = std::any_of(holds_.begin(), holds_.end(), [&](const held* h) {
        return h->from && h->place->path == gone.path;
    });
    if (!early || is_changed || gone.how != participant::ending::released || s.by->closed) {
        return;
    }
    if (gone.successor != nullptr) {
        stays_[gone.successor->path] = s;
    } else {
        stage_.broken("I13", gone.path + " has gone before its shortest time");
    }
}

}  // namespace latchkey::simulation

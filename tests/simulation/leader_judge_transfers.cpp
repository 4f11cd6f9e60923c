#include "leader_judge.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

// Handing over.

namespace latchkey::simulation {

using namespace std::chrono_literals;

bool leader_judge::takes_part(const participant& place) const {
    const auto maker = elections_.maker_of(place.path);
    return maker != nullptr && maker->takes_part();
}

void leader_judge::applied(const model::transaction& t, const participants& changed) {
    election_judge::applied(t, changed);
    offers_.applied(t);
    for (const model::change& c : t.changes) {
        client_record* const by = client_of(t.session);
        if (by != nullptr && c.path.find("-peers/") != std::string::npos) {
            ++by->abandoned;  // an offer: whom it was made to is watched, also if he does not hear
        }
    }
    for (const auto& p : changed) {
        if (p->there() && p->place.behind != 0 && p->place.behind == t.zxid) {
            let_in(*p, changed);
            for (const auto& left : changed) {
                if (!left->there() && left->owner == p->owner) {
                    left->successor = p;  // whom the leader watches
                }
            }
        }
    }
}

/// Somebody comes right behind a leader.
void leader_judge::let_in(const participant& successor, const participants& changed) {
    ++stage_.counts.conversions;
    const auto& queue = truth_.queue_of(successor.directory);
    const auto at = queue.find(successor.place);
    if (at == queue.end() || at == queue.begin()) {
        return stage_.broken("I9", successor.path + " was let in behind nobody");
    }
    const participant& leader = *std::prev(at)->second;
    if (!takes_part(leader) || !takes_part(successor)) {
        return stage_.broken("I9", successor.path + " was let in among strangers");
    }
    const auto of_its_number = std::count_if(queue.begin(), queue.end(), [&](const auto& entry) {
        return entry.second->number == successor.number && !entry.second->foreign();
    });
    if (of_its_number > 2) {
        return stage_.broken("I12", successor.path + " is the third of its number");
    }
    const auto maker = elections_.maker_of(successor.path);
    const auto left = std::find_if(changed.begin(), changed.end(), [&](const auto& p) {
        return !p->there() && elections_.maker_of(p->path) == maker;
    });
    if (left == changed.end()) {
        return stage_.broken("I12", successor.path + " was let in and has another place");
    }
    offers_.check_accepted(leader, **left);
    ++maker->let_in;
    const auto behind = std::next(at);
    client_record* const by = behind != queue.end() ? client_of(behind->second->owner) : nullptr;
    if (by != nullptr) {
        ++by->abandoned;  // which watches the leader, and the successor too if it looks again
    }
}

std::size_t leader_judge::hands_over(candidacy& c, std::string to) {
    stage_.tell(c.who, " offers the leadership to ", to);
    c.orders.push_back({c.newest, std::move(to)});
    return c.orders.size() - 1;
}

void leader_judge::transferred(candidacy& c,
                               std::size_t order,
                               std::error_code ec,
                               leader_latch::transfer what) {
    stage_.tell(c.who, "'s transfer: ", ec ? ec.message() : std::to_string(static_cast<int>(what)));
    transfer_order& o = c.orders[order];
    const auto leader = truth_.find(c.by->chroot + o.from);
    if (std::exchange(o.ended, true)) {
        stage_.broken("I9", c.who + " was told twice of a transfer");
    } else if (ec) {
        if (ec != errc::closed || !(c.closed || c.by->closed)) {
            stage_.broken("I9", c.who + "'s transfer failed without a cause: " + ec.message());
        }
    } else if (what == leader_latch::transfer::accepted && leader->successor == nullptr) {
        stage_.broken("I9", c.who + " was told of a successor that there is not");
    } else if (what == leader_latch::transfer::not_accepted && leader->successor != nullptr &&
               leader->successor->there() &&  // else it has accepted, and has left the queue since
               stage_.last_refusal < duration::zero()) {  // else the leader may not see the queue
        stage_.broken("I9", c.who + " was told that nobody accepts, and is succeeded");
    }
}

void leader_judge::chosen(candidacy& c) {
    stage_.tell(c.who, " is told that it was chosen");
    if (++c.chosen > c.let_in) {
        stage_.broken("I9", c.who + " is told that it was chosen, and was not");
    }
}

/// Of one that leads: asked to finish only if somebody follows, or has asked for that, and gone
/// within the drain time.
void leader_judge::check_handing_over(candidacy& c) {
    if (!c.takes_part()) {
        return;
    }
    if (!c.handle.hand_over_requested().stop_requested()) {
        offers_.check_petition(c);
        return offers_.check_preferred(c);
    }
    if (!c.asked_back) {
        c.asked_back = stage_.now();
    }
    if (c.term->place->successor == nullptr && c.to_finish != c.term->place->path) {
        stage_.broken("I12", c.who + " is to finish, and nobody follows");
    } else if (stage_.now() >
               std::max(*c.asked_back + c.by->lasting(c.preference->drain), c.by->running_since) +
                   1ms) {
        stage_.broken("I12", c.who + " leads on after its drain time");
    }
}

bool leader_judge::may_watch(const std::string& path, std::int64_t session) const {
    return election_judge::may_watch(path, session) ||
           std::any_of(queues_watched_.begin(), queues_watched_.end(), [&](const auto& directory) {
               return path.starts_with(directory + "-peers");
           });
}

bool leader_judge::empty() const {
    return judge::empty() && offers_.size() == 0;
}

void leader_judge::check_wake_ups() {
    forget_woken_observers();
    std::erase_if(woken_, [&](const auto& entry) {
        const auto p = truth_.find(entry.first);
        return p != nullptr && p->successor != nullptr && entry.second.size() <= 2;
    });
    election_judge::check_wake_ups();
}

}  // namespace latchkey::simulation

#include "ensemble/cluster.hpp"
#include "judge.hpp"

#include <algorithm>
#include <array>
#include <sstream>

// What is checked at the end.

namespace latchkey::simulation {

using namespace std::chrono_literals;

namespace {

/// That a rule of tests/history stands for.
const char* invariant_of(history::violation::rule r) noexcept {
    using enum history::violation::rule;
    switch (r) {
        case passed:
        case round:
        case limit:
        case torn:
        case overlap:
            return "I1";
        case changed:
        case farewell:
            return "I2";
        case token:
            return "I3";
        case order:
            return "I4";
        case orphan:
            return "I5";
        case lost_wakeup:
            return "I8";
        default:
            return "I9";
    }
}

}  // namespace

bool judge::idle() const {
    const auto is_crashed = [](const auto& one) { return one->by->crashed; };
    return std::all_of(holds_.begin(), holds_.end(), is_crashed) &&
           std::all_of(calls_.begin(), calls_.end(), is_crashed);
}

bool judge::empty() const {
    return std::all_of(queues_watched_.begin(), queues_watched_.end(), [&](const auto& directory) {
        const auto& queue = truth_.queue_of(directory);
        return std::all_of(
            queue.begin(), queue.end(), [](const auto& entry) { return entry.second->foreign(); });
    });
}

void judge::check_end() {
    for (const auto& c : calls_) {
        if (!c->by->crashed) {
            stage_.broken("I9", c->who + " was never told");
        }
    }
    for (const loss_record& l : losses_) {
        if (!l.by->crashed && l.lost.stop_requested() != l.was_lost) {
            stage_.broken("I9",
                          l.who + (l.was_lost ? "'s stop token was never requested"
                                              : "'s stop token was requested without a loss"));
        }
    }
    for (const deal& d : deals_) {
        if (d.told == 0 && !d.by->crashed) {
            stage_.broken("I9", d.who + " was never told of a transaction");
        }
    }
    check_wake_ups();
}

void judge::judge_history() {
    if (told_) {
        const history::verdict v = told_->judged(quiet());
        for (const history::violation& each : v.violations) {
            stage_.broken(invariant_of(each.which), each.text, each.at);
        }
    }
}

/// One release wakes one waiter. Who gave up a place may be told of the znode ahead of it all the
/// same: its watch cannot be taken back.
void judge::check_wake_ups() {
    for (const auto& [path, sessions] : woken_) {
        const auto waiting = std::count_if(sessions.begin(), sessions.end(), [&](auto session) {
            const client_record* const by = client_of(session);
            return by != nullptr && by->session == session && by->abandoned == 0 && !by->crashed;
        });
        if (waiting > 1) {
            stage_.broken("I7", path + " woke " + std::to_string(waiting) + " waiters");
        }
    }
}

std::string judge::picture() const {
    std::ostringstream out;
    for (int i = 0; i < stage_.cluster.size(); ++i) {
        const model::server& s = stage_.cluster.at(i);
        constexpr std::array roles{"stopped", "looks", "follows", "leads"};
        out << (i == 0 ? "" : ", ") << "server " << i << ' '
            << roles[static_cast<std::size_t>(s.now_is())] << " in epoch " << s.epoch() << " at "
            << std::hex << s.applied().zxid() << std::dec << " of " << std::hex << s.last_logged()
            << std::dec;
    }
    for (const auto& s : stage_.servers.sessions()) {
        const client_record* const by = client_of(s.id);
        out << "; session " << (s.id & 0xffff) << " of client " << (by != nullptr ? by->number : -1)
            << (s.alive ? "" : " dead") << " at " << (s.connected ? s.server : -1)
            << (by != nullptr && by->paused ? ", stopped" : "");
    }
    for (const std::string& directory : queues_watched_) {
        for (const auto& [czxid, p] : truth_.queue_of(directory)) {
            out << "\n    " << p->path << " of " << (p->owner & 0xffff);
        }
    }
    for (const held* const h : holds_) {
        out << "\n    " << h->who << " holds " << h->token.to_string() << to_string(h->as)
            << (believes(*h) ? "" : ", lost");
    }
    for (const auto& c : calls_) {
        out << "\n    " << c->who << " waits" << to_string(c->what) << " since " << c->begun / 1ms
            << " ms";
    }
    return out.str();
}

}  // namespace latchkey::simulation

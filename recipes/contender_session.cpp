#include "contender.hpp"

#include <utility>

// What a contender makes of what becomes of its session.

namespace latchkey {

void contender::session_connected() {
    switch (state_) {
        case state::unconnected:
        case state::looking:
            begin_attempt();
            break;
        case state::joining:
            create_->session_connected();
            break;
        case state::queued:
            // Replayed watches come in no useful order, and those armed on another connection prove
            // nothing.
            turn_->list();
            break;
        case state::held:
            if (own_watch_ && !own_watch_->armed()) {
                own_watch_->arm();
            }
            break;
        case state::left:
            break;
    }
}

void contender::session_ended(loss why) {
    own_.clear();
    own_watch_.reset();
    if (const auto forgotten = std::exchange(create_, nullptr)) {
        forgotten->forget();
    }
    if (state_ == state::held) {
        if (const auto lost = granted_.lock()) {
            lost->lose(why);
        }
    } else if (giving_up_) {
        finish(std::move(*giving_up_));
    } else if (state_ != state::left) {
        begin_attempt();
    }
}

void contender::validity_passed() {
    if (const auto lost = granted_.lock()) {
        core_->heartbeat().withdraw(this);
        lost->lose(loss::deadline_passed);
    }
}

/// What the own znode's watch would have told, had it been set.
void contender::znode_missing(const std::string& path) {
    if (!own_.empty() && path == path_of(own_) && state_ != state::left) {
        on_gone();
    }
}

void contender::client_closed(const failure& why) {
    if (const auto lost = granted_.lock()) {
        lost->lose(loss::client_closed);
    }
    if (!own_.empty()) {
        core_->deletes().add(path_of(own_), nullptr);
    }
    const bool held = state_ == state::held;
    finish({why, {}});
    // Nobody contends here any more: nobody has to wait until the hold is released. Who held
    // nothing was replaced by finish() already.
    if (const auto released = std::exchange(settings_.released, nullptr); released && held) {
        released();
    }
}

}  // namespace latchkey

#include "queue/queue_participant.hpp"

#include <algorithm>
#include <utility>

// What a queue_participant makes of what becomes of its session.

namespace latchkey {

void queue_participant::session_connected() {
    switch (state_) {
        case state::unconnected:
        case state::looking:
            begin_attempt();
            break;
        case state::joining:
            create_->session_connected();
            break;
        case state::queued:
            // The watches ended with their connection.
            wait_in_all();
            break;
        case state::moving:
            exchange_->session_connected();
            break;
        case state::admitting:
            if (confirmation_) {
                confirmation_->start();
            } else {
                admission_->session_connected();
            }
            break;
        case state::held:
            for (const auto& z : znodes_) {
                z->watch_again_if_not();
                if (z->waits()) {
                    z->resume();
                }
            }
            if (exchange_) {
                exchange_->session_connected();
            }
            break;
        case state::left:
            break;
    }
}

void queue_participant::session_suspended() {
    if (state_ == state::held && settings_.as->steps_down_when_suspended) {
        step_down(loss::suspended);
    }
}

void queue_participant::session_ended(loss why) {
    znodes_.clear();
    if (const auto forgotten = std::exchange(create_, nullptr)) {
        forgotten->forget();
    }
    if (state_ == state::moving) {
        exchange_->forget();
        exchange_.reset();
    }
    if (state_ == state::held) {
        lose(why);
        drop_exchange();
    } else if (giving_up_) {
        finish(std::move(*giving_up_));
    } else if (state_ != state::left) {
        begin_attempt();
    }
}

void queue_participant::validity_passed() {
    if (state_ == state::held) {
        step_down(loss::deadline_passed);
    }
}

/// The znodes stay until the hold is released.
void queue_participant::step_down(loss why) {
    core_->heartbeat().withdraw(this);
    stop_waiting();
    lose(why);
}

/// What the own znode's watch would have told, had it been set.
void queue_participant::znode_missing(const std::string& path) {
    const auto found = std::find_if(
        znodes_.begin(), znodes_.end(), [&path](const auto& z) { return z->path() == path; });
    if (found != znodes_.end() && state_ != state::left) {
        on_gone(**found);
    }
}

void queue_participant::client_closed(const failure& why) {
    lose(loss::client_closed);
    drop_exchange();
    core_->deletes().add(paths(), nullptr);
    finish({why, {}});
}

}  // namespace latchkey

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
        case state::admitting:
            if (confirmation_) {
                confirmation_->start();
            } else {
                admission_->session_connected();
            }
            break;
        case state::held:
            if (own_watch_ && !own_watch_->armed()) {
                own_watch_->arm();
            }
            if (exchange_) {
                exchange_->session_connected();
            } else if (turn_) {
                turn_->list();
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
        turn_.reset();
        lose(why);
        drop_exchange();
    } else if (giving_up_) {
        finish(std::move(*giving_up_));
    } else if (state_ != state::left) {
        begin_attempt();
    }
}

void contender::validity_passed() {
    if (state_ == state::held) {
        core_->heartbeat().withdraw(this);
        turn_.reset();
        lose(loss::deadline_passed);
    }
}

/// What the own znode's watch would have told, had it been set.
void contender::znode_missing(const std::string& path) {
    if (!own_.empty() && path == path_of(own_) && state_ != state::left) {
        on_gone();
    }
}

void contender::client_closed(const failure& why) {
    lose(loss::client_closed);
    drop_exchange();
    if (!own_.empty()) {
        core_->deletes().add(path_of(own_), nullptr);
    }
    finish({why, {}});
}

}  // namespace latchkey

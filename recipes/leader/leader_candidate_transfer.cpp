#include "leader/leader_candidate.hpp"

#include <utility>

// A candidate's side of transfers: leadership_transfer decides, and this does it.

namespace latchkey {

/// What was offered to a place is not for the next one.
void leader_candidate::on_no_place() {
    if (succession_) {
        succession_->leave();
    }
}

/// It has not been told to anybody.
void leader_candidate::drop_coming(const std::string& successor) {
    if (const auto dropped = std::exchange(coming_, nullptr)) {
        succession_->end_term();
        succession_->leave();
        dropped->state().lose(loss::resigned);
        dropped->set_successor(successor);
        dropped->leave();
    }
}

/// What is still asked for it is asked for nothing.
void leader_candidate::on_coming_lost() {
    if (coming_ && !coming_->state().valid()) {
        drop_coming({});
    }
}

void leader_candidate::transfer(const std::string& id,
                                std::chrono::nanoseconds limit,
                                leadership_transfer::transferred done) {
    core_->post([self = shared_from_this(), id, limit, done = std::move(done)] {
        self->succession_->transfer(id, limit, done);
    });
}

void leader_candidate::move_behind(const std::string& leader,
                                   request invitation,
                                   std::function<void(const std::string&)> done) {
    if (contender_) {
        contender_->move_behind(leader, std::move(invitation), std::move(done));
    } else {
        done({});
    }
}

/// Asked to finish; and made to, if that takes too long since it was asked first.
void leader_candidate::hand_over(const std::string& successor) {
    if (const auto present = term()) {
        present->set_successor(successor);
        present->state().ask_back();
        if (!drain_.running()) {
            drain_.start(as_->leads->preference->drain,
                         [this] { core_->call([self = shared_from_this()] { self->resign(); }); });
        }
    }
}

}  // namespace latchkey

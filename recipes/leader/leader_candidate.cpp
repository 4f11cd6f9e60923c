#include "leader/leader_candidate.hpp"

#include "text/path.hpp"

#include <utility>

namespace latchkey::inline v0 {

leader_candidate::leader_candidate(std::shared_ptr<client_core> core,
                                   std::string path,
                                   leader_options options)
    : leader_loop(std::move(core), std::move(path), latch_names, std::move(options)),
      listeners_(core_),
      transfers_(std::make_shared<leadership_transfer>(core_, recipe_, profile_, *this)),
      drain_limit_(core_->loop()) {}

// ---- any thread ----

failure leader_candidate::closed_why() const {
    return closed() ? failure{errc::closed, '"' + escaped(path()) + "\": this candidate was closed"}
                    : failure{};
}

void leader_candidate::start() {
    closed_why().raise();
    core_->post([self = self()] { self->begin(); });
}

void leader_candidate::close(leader_latch::closing how) {
    if (!note_closed()) {
        return;
    }
    if (how == leader_latch::closing::silent) {
        listeners_.silence();
    }
    if (const auto present = term()) {
        present->state().lose(loss_reason::resigned);
        // Keeps this alive until on_loss has run, also if the client was closed before.
        present->state().call_after_loss([self = self()] {});
    }
    core_->post([self = self()] {
        self->settle(self->closed_why());
        self->drain_limit_.cancel();
        self->transfers_->end_term();
        self->transfers_->leave();
        self->stop();
    });
}

void leader_candidate::transfer(const std::string& id,
                                std::chrono::nanoseconds limit,
                                leadership_transfer::transferred done) {
    core_->post([self = self(), id, limit, done = std::move(done)] {
        self->transfers_->transfer(id, limit, done);
    });
}

// ---- what the loop runs ----

/// Another candidate can be elected only after the listeners have returned.
task<leader_loop::next_step> leader_candidate::lead(std::shared_ptr<leader_term> granted) {
    pauses_.reset();
    oneshot<bool> lost;
    on_lost_ = lost.setter();
    granted->publish();
    const auto handle = leader_term::handle(granted);
    const auto elected = [handle](listener& l) {
        l.leads = true;
        call_if_given(l.calls.elected, handle);
    };
    listeners_.notify(elected, true);
    transfers_->lead(granted->state().path());
    settle({}, handle);
    co_await lost;

    drain_limit_.cancel();
    transfers_->end_term();
    transfers_->leave();
    granted->close();
    if (!transfers_->has_offered()) {
        granted->tell_the_next();
    }
    const auto lost_it = [handle, why = granted->state().why_lost()](listener& l) {
        if (std::exchange(l.leads, false)) {
            call_if_given(l.calls.lost, handle, why);
        }
    };
    listeners_.notify(lost_it, false, &granted->state());
    oneshot<bool> drained;
    // When it is destroyed, because the user's executor need not run it.
    std::shared_ptr<void> told(nullptr, [self = self(), note = drained.setter()](void*) {
        self->core_->post([self, note] { note(true); });
    });
    granted->state().call_after_loss([told = std::move(told)] {});
    co_await drained;
    delete_term_znode();
    co_return next_step::queue;
}

task<leader_loop::next_step> leader_candidate::on_refused(failure why) {
    transfers_->leave();
    settle(why);
    if (core_->closed_why() || closed()) {
        co_return next_step::end;
    }
    core_->log(
        {log_level::error,
         "candidate-refused",
         "cannot be a candidate: " + why.detail + ": " + why.code.message() + "; trying again",
         path()});
    const auto refused = [e = error(why.code, why.detail)](const listener& l) {
        call_if_given(l.calls.refused, e);
    };
    listeners_.notify(refused, false);
    co_return next_step::pause;
}

// ---- calls that wait ----

void leader_candidate::settle(const failure& why, const leadership& term) {
    for (const auto& w : std::exchange(waiting_, {})) {
        if (!w->finished()) {
            w->finish({why, term});
        }
    }
}

/// Between two terms it is in no queue, because its listeners or a pause are waited for. That is no
/// reason to doubt the servers.
void leader_candidate::await(const std::shared_ptr<wait_for_term>& w) {
    const auto present = term();
    if (const failure why = closed_why()) {
        w->finish({why});
    } else if (present && present->state().valid()) {
        w->finish({{}, leader_term::handle(present)});
    } else {
        waiting_.push_back(w);
        if (participant_ ? participant_->is_confirmed() : core_->connected()) {
            w->note_confirmed();
        }
    }
}

void leader_candidate::on_confirmed() {
    for (const auto& w : std::vector(waiting_)) {
        w->note_confirmed();
    }
}

void wait_for_term::begin() {
    candidate_->await(std::static_pointer_cast<wait_for_term>(shared_from_this()));
}

void wait_for_term::give_up() {
    std::erase_if(candidate_->waiting_, [this](const auto& w) { return w.get() == this; });
    finish({});
}

void wait_for_term::note_confirmed() {
    confirmed_ = true;
    if (only_looks() && !finished()) {
        give_up();
    }
}

// ---- transfers: leadership_transfer decides, and this does it ----

/// An offer that was made to one place is not valid for the next one.
void leader_candidate::on_place(const queue_position* p) {
    leader_loop::on_place(p);
    p != nullptr ? transfers_->queue(p->path) : transfers_->leave();
}

/// Asks the leader to finish. If that takes too long, counted from the first request, it is made to
/// resign.
void leader_candidate::hand_over(const std::string& successor) {
    if (const auto present = term()) {
        present->set_successor(successor);
        present->state().ask_back();
        if (!drain_limit_.running()) {
            drain_limit_.start(profile_->preference->drain, [this] { resign(); });
        }
    }
}

}  // namespace latchkey::inline v0

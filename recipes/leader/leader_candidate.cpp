#include "leader/leader_candidate.hpp"

#include "text/path.hpp"

#include <utility>

namespace latchkey::inline v0 {
namespace {

std::shared_ptr<const queue_recipe> with_terms(queue_recipe as,
                                               std::shared_ptr<const grant_terms> terms) {
    as.terms = std::move(terms);
    return std::make_shared<const queue_recipe>(std::move(as));
}

}  // namespace

leader_candidate::leader_candidate(std::shared_ptr<client_core> core, candidate_config c)
    : core_(std::move(core)),
      who_(std::move(c.who)),
      as_(with_terms(std::move(c.queue), who_)),
      listeners_(core_),
      refusal_pause_(core_->loop()),
      rejoin_pause_(core_->loop()),
      drain_limit_(core_->loop()) {
    if (who_->preference) {
        leadership_transfer::owner& self = *this;
        transfers_ = std::make_shared<leadership_transfer>(core_, as_, who_, self);
    }
}

// ---- any thread ----

std::shared_ptr<leader_term> leader_candidate::term() const {
    const monitor_lock lock(guard_);
    return term_;
}

failure leader_candidate::closed_why() const {
    const monitor_lock lock(guard_);
    return closed_
               ? failure{errc::closed, '"' + escaped(directory()) + "\": this candidate was closed"}
               : failure{};
}

void leader_candidate::start() {
    closed_why().raise();
    core_->post([self = shared_from_this()] {
        if (!std::exchange(self->started_, true)) {
            self->enter();
        }
    });
}

subscription leader_candidate::subscribe(leader_latch::listener l) {
    auto added = listeners_.make(std::move(l));
    core_->post([self = shared_from_this(), added] {
        const auto present = self->losing_ ? nullptr : self->term();
        self->listeners_.add(added, leader_term::handle(present));
    });
    return leader_listeners::handle(std::move(added));
}

void leader_candidate::resign() {
    if (const auto present = term()) {
        present->state().lose(loss_reason::resigned);
        core_->post([self = shared_from_this(), present] {
            if (present == self->term() && present->state().why_lost() == loss_reason::resigned) {
                self->on_lost();
            }
        });
    }
}

void leader_candidate::close(leader_latch::closing how) {
    std::shared_ptr<leader_term> present;
    {
        const monitor_lock lock(guard_);
        if (std::exchange(closed_, true)) {
            return;
        }
        present = term_;
    }
    if (how == leader_latch::closing::silent) {
        listeners_.silence();
    }
    if (present) {
        present->state().lose(loss_reason::resigned);
    }
    core_->post([self = shared_from_this()] { self->on_closed(); });
}

// ---- on the loop ----

void leader_candidate::enter() {
    if (closed_why()) {
        return;
    }
    span_ = core_->telemetry().begin(directory(), as_->leads, core_->loop().now());
    participant_ = std::make_shared<queue_participant>(
        core_,
        queue_participant::settings{
            .as = as_, .directory_known = directory_known_, .only_if_first = false},
        shared_from_this());
    const auto keep = participant_;
    keep->start();
}

held_place::notifications leader_candidate::notifications() {
    return {.released = if_alive(&leader_candidate::on_released),
            .lost = if_alive(&leader_candidate::on_lost)};
}

std::function<void()> leader_candidate::if_alive(void (leader_candidate::*f)()) {
    return [weak = weak_from_this(), f] {
        if (const auto self = weak.lock()) {
            (self.get()->*f)();
        }
    };
}

void leader_candidate::on_outcome(queue_participant::outcome o) {
    participant_.reset();
    if (!is_empty(o.granted)) {
        directory_known_ = true;
        lead(std::move(o.granted));
        return;
    }
    core_->telemetry().not_granted(span_, o.why);
    if (o.why) {
        refuse(o.why);
    }
}

void leader_candidate::lead(hold granted) {
    begin_term(leader_term::make(std::move(granted), who_->id, who_->data, *who_->seen));
}

void leader_candidate::begin_term(const std::shared_ptr<leader_term>& present) {
    {
        const monitor_lock lock(guard_);
        term_ = closed_ ? nullptr : present;
    }
    if (!term()) {
        present->leave();
        return;
    }
    backoff_.reset();
    losing_ = false;
    // Called also if the term itself is the first to learn that it is over, from an answer or from
    // the clock.
    on_loss_.emplace(present->state().lost(), [weak = weak_from_this(), ended = present.get()] {
        if (const auto self = weak.lock()) {
            self->core_->post([self, ended] {
                if (self->term().get() == ended) {
                    self->on_lost();
                }
            });
        }
    });
    present->publish();
    listeners_.tell_elected(leader_term::handle(present));
    if (transfers_) {
        transfers_->lead(present->state().path());
    }
    for (const auto& weak : std::exchange(waiting_, {})) {
        if (const auto w = weak.lock()) {
            w->settle({}, present);
        }
    }
}

void leader_candidate::refuse(const failure& why) {
    if (transfers_) {
        transfers_->leave();
    }
    for (const auto& weak : std::exchange(waiting_, {})) {
        if (const auto w = weak.lock()) {
            w->settle(why, nullptr);
        }
    }
    if (core_->closed_why() || closed_why()) {
        return;
    }
    core_->log(
        {log_level::error,
         "candidate-refused",
         "cannot be a candidate: " + why.detail + ": " + why.code.message() + "; trying again",
         directory()});
    listeners_.tell_refused(why);
    refusal_pause_.start(backoff_.next(core_->loop().random()), if_alive(&leader_candidate::enter));
}

/// Another candidate can be elected only after the listeners have returned.
void leader_candidate::on_lost() {
    const auto present = term();
    if (!present || std::exchange(losing_, true)) {
        return;
    }
    drain_limit_.cancel();
    if (transfers_) {
        transfers_->end_term();
        transfers_->leave();
    }
    present->close();
    listeners_.tell_lost(leader_term::handle(present), present->state().why_lost());
    present->state().call_after_loss(
        [self = shared_from_this()] { self->core_->post([self] { self->leave(); }); });
}

void leader_candidate::leave() {
    std::shared_ptr<leader_term> over;
    {
        const monitor_lock lock(guard_);
        over.swap(term_);
    }
    on_loss_.reset();
    znode_was_deleted_ = over->state().why_lost() == loss_reason::znode_deleted;
    over->leave();
}

void leader_candidate::on_released() {
    losing_ = false;
    std::exchange(znode_was_deleted_, false)
        ? rejoin_pause_.soon(if_alive(&leader_candidate::enter))
        : enter();
}

void leader_candidate::on_closed() {
    refusal_pause_.cancel();
    rejoin_pause_.cancel();
    for (const auto& weak : std::exchange(waiting_, {})) {
        if (const auto w = weak.lock()) {
            w->settle(closed_why(), nullptr);
        }
    }
    if (transfers_) {
        transfers_->leave();
    }
    if (participant_) {
        participant_->cancel();
    }
    on_lost();
    if (transfers_) {
        transfers_->end();
    }
}

// ---- calls that wait ----

void leader_candidate::await(const std::shared_ptr<wait_for_term>& w) {
    const auto present = term();
    if (const failure why = closed_why()) {
        w->settle(why, nullptr);
    } else if (present && present->state().valid()) {
        w->settle({}, present);
    } else {
        std::erase_if(waiting_, [](const auto& weak) { return weak.expired(); });
        waiting_.push_back(w);
        if (is_confirmed()) {
            w->note_confirmed();
        }
    }
}

void leader_candidate::on_confirmed() {
    for (const auto& weak : std::vector(waiting_)) {
        if (const auto w = weak.lock()) {
            w->note_confirmed();
        }
    }
}

/// Between two terms it is in no queue, because its listeners or a pause are waited for. That is no
/// reason to doubt the servers.
bool leader_candidate::is_confirmed() const {
    return participant_ ? participant_->is_confirmed() : core_->connected();
}

call_aim wait_for_term::aim() const {
    return {"become the leader of", {candidate_->directory()}};
}

void wait_for_term::begin() {
    attach();
    candidate_->await(std::static_pointer_cast<wait_for_term>(shared_from_this()));
}

void wait_for_term::note_confirmed() {
    confirmed_ = true;
    if (only_looks() && !finished()) {
        finish({});
    }
}

void wait_for_term::settle(failure why, std::shared_ptr<leader_term> term) {
    if (!finished()) {
        finish({std::move(why), std::move(term)});
    }
}

// ---- transfers: leadership_transfer decides, and this does it ----

/// An offer that was made to one place is not valid for the next one.
void leader_candidate::on_beginning() {
    if (transfers_) {
        transfers_->leave();
    }
}

void leader_candidate::on_reserved(queue_position p) {
    if (transfers_) {
        transfers_->queue(p.path);
    }
}

void leader_candidate::transfer(const std::string& id,
                                std::chrono::nanoseconds limit,
                                leadership_transfer::transferred done) {
    core_->post([self = shared_from_this(), id, limit, done = std::move(done)] {
        self->transfers_->transfer(id, limit, done);
    });
}

void leader_candidate::move_behind(const std::string& leader,
                                   request invitation,
                                   std::function<void(const std::string&)> done) {
    if (participant_) {
        participant_->move_behind(leader, std::move(invitation), std::move(done));
    } else {
        done({});
    }
}

/// Asks the leader to finish. If that takes too long, counted from the first request, it is made to
/// resign.
void leader_candidate::hand_over(const std::string& successor) {
    if (const auto present = term()) {
        present->set_successor(successor);
        present->state().ask_back();
        if (!drain_limit_.running()) {
            drain_limit_.start(who_->preference->drain, [this] {
                core_->call([self = shared_from_this()] { self->resign(); });
            });
        }
    }
}

}  // namespace latchkey::inline v0

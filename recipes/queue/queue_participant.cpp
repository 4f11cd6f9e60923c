#include "queue/queue_participant.hpp"

#include <utility>

namespace latchkey::inline v0 {
namespace {

/// How long a participant that gives up waits for the proof that its znode is gone; the deletes go
/// on after it.
constexpr auto give_up_limit = std::chrono::seconds(1);

}  // namespace

void queue_participant::start() {
    if (core_->closed_why()) {
        core_->post([self = shared_from_this()] { self->finish({self->core_->closed_why()}); });
        return;
    }
    core_->attach(shared_from_this());
    owner_->on_place(nullptr);
    begin_attempt();
}

// ---- attempts ----

/// While there is a connection, and room to send. Thousands may wait for that: an attempt takes
/// more memory.
void queue_participant::begin_attempt() {
    retry_.cancel();
    if (!core_->connected() || std::exchange(awaits_room_, true)) {
        return;
    }
    core_->when_there_is_room([weak = weak_from_this()] {
        const auto self = weak.lock();
        if (self && std::exchange(self->awaits_room_, false) && self->core_->connected() &&
            self->owner_ && !self->gives_up_) {
            self->start_attempt();
        }
    });
}

void queue_participant::start_attempt() {
    attempt_ = std::make_unique<attempt>(core_,
                                         settings_.recipe,
                                         settings_.only_if_first,
                                         settings_.directory_known,
                                         *owner_,
                                         [this](attempt::end e) { on_ended(std::move(e)); });
    attempt_->start();
}

void queue_participant::on_ended(attempt::end e) {
    const auto keep = shared_from_this();
    if (e.what == step_end::done) {
        finish({.granted = std::move(e.granted)});
    } else if (e.what == step_end::gone) {
        drop_attempt();
        retry_.soon([this] { begin_attempt(); });
    } else if (!gives_up_) {
        give_up(std::move(e.why));
    }
}

void queue_participant::drop_attempt() {
    if (attempt_) {
        settings_.directory_known = attempt_->directory_known();
    }
    attempt_.reset();
    if (owner_) {
        owner_->on_place(nullptr);
    }
}

// ---- the session ----

void queue_participant::session_connected() {
    if (attempt_) {
        attempt_->session_connected();
    } else if (!gives_up_) {
        begin_attempt();
    }
}

void queue_participant::session_ended(loss_reason) {
    const auto keep = shared_from_this();
    if (gives_up_) {
        finish({std::move(gives_up_->why)});
        return;
    }
    drop_attempt();
    begin_attempt();
}

void queue_participant::client_closed(const failure& why) {
    const auto keep = shared_from_this();
    if (attempt_) {
        attempt_->give_up([] {});
    }
    finish({why});
}

// ---- giving up ----

void queue_participant::cancel() {
    if (owner_ && !gives_up_) {
        give_up({});
    }
}

/// Ends without a hold. Znodes whose create is not resolved yet are deleted when they are found.
void queue_participant::give_up(failure why) {
    const auto keep = shared_from_this();
    gives_up_ = std::make_unique<giving_up>(std::move(why), core_->loop());
    retry_.cancel();
    if (!attempt_) {
        finish({std::move(gives_up_->why)});
        return;
    }
    gives_up_->limit.start(give_up_limit, [this] { notify({gives_up_->why}); });
    attempt_->give_up([self = keep] { self->finish({self->gives_up_->why}); });
}

void queue_participant::finish(outcome o) {
    const auto self = shared_from_this();
    const auto over = std::move(attempt_);  // what it was granted is the owner's after this
    if (gives_up_) {
        gives_up_->limit.cancel();
    }
    retry_.cancel();
    core_->detach(this);
    notify(std::move(o));
}

void queue_participant::notify(outcome o) {
    if (const auto notified = std::exchange(owner_, nullptr)) {
        notified->on_outcome(std::move(o));
    }
}

}  // namespace latchkey::inline v0

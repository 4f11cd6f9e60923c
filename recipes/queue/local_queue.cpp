#include "queue/local_queue.hpp"

#include <utility>
#include <vector>

namespace latchkey::inline v0 {
namespace {

/// How long threads that run may pass those that wait: each time that a thread is woken costs more
/// than many turns. (Go's sync.Mutex begins to hand over in order after the same time.)
constexpr auto longest_passing = std::chrono::milliseconds(1);

}  // namespace

// ---- one call ----

acquire_call::acquire_call(std::shared_ptr<local_queue> queue,
                           std::shared_ptr<const queue_recipe> recipe,
                           std::function<void(const queue_position&)> reserved)
    : user_call(queue->core()),
      queue_(std::move(queue)),
      recipe_(std::move(recipe)),
      reserved_(reserved ? core()->callbacks().keep(std::move(reserved)) : nullptr),
      span_{.begun = core()->loop().now()},
      waits_for_turn_(queue_->turns_ != nullptr) {
    if (waits_for_turn_) {
        queue_->turns_->caller_comes();  // a turn that ends before this call arrives is for it
    }
}

void acquire_call::begin() {
    begin_span();
    queue_->arrive(self());
}

/// Called for each call, also for one that ends before begin().
void acquire_call::begin_span() {
    if (span_.id == 0) {
        span_ = core()->telemetry().begin(recipe_->users_path(), recipe_->leads, span_.begun);
    }
}

void acquire_call::note_end(const result& r) {
    queue_->end_wait_for_turn(*this);
    if (is_empty(r.value)) {
        begin_span();
        core()->telemetry().not_granted(span_, r.why);
    }
}

// ---- its participant ----

void acquire_call::on_place(const queue_position* p) {
    if (p == nullptr) {
        return;
    }
    core()->telemetry().queued(span_, p->path, p->position, recipe_->mode);
    if (reserved_ && !only_looks()) {
        core()->call([reserved = reserved_, place = *p] { (*reserved)(place); });
    }
}

void acquire_call::on_confirmed() {
    confirmed_ = true;
    queue_->confirm_waiting();
}

// ---- the queue ----

std::shared_ptr<acquire_call> local_queue::call(
    std::shared_ptr<const queue_recipe> recipe,
    std::function<void(const queue_position&)> reserved) {
    return std::make_shared<acquire_call>(
        shared_from_this(), std::move(recipe), std::move(reserved));
}

void local_queue::arrive(const std::shared_ptr<acquire_call>& a) {
    if (!busy_) {
        contend(a);
    } else {
        if (waiting_.empty()) {
            core_->attach(shared_from_this());
        }
        waiting_.push_back(a);
        serve();
        confirm_if_ahead_is();
    }
}

// ---- whether a server was reached ----

bool local_queue::is_ahead_confirmed() const {
    if (const auto ahead = participant_.lock()) {
        return ahead->is_confirmed();
    }
    auto held = held_.lock();
    if (turns_) {
        // Other threads take turns without the loop.
        auto seen = turns_->look_at_it();
        if (seen.is_free) {
            return false;
        }
        if (seen.hold) {
            held = std::move(seen.hold);
        }
    }
    return (held && held->valid()) || core_->connected();
}

/// Those that came since the last time are at the end.
void local_queue::confirm_if_ahead_is() {
    if (!waiting_.empty() && !waiting_.back()->confirmed_ && is_ahead_confirmed()) {
        confirm_waiting();
    }
}

/// Those that want the lock at once cannot have it.
void local_queue::confirm_waiting() {
    std::vector<std::shared_ptr<acquire_call>> refused;
    for (const auto& a : waiting_) {
        a->confirmed_ = true;
        if (a->only_looks()) {
            refused.push_back(a);
        }
    }
    for (const auto& a : refused) {
        cancel(a);
    }
}

// ---- contending ----

void local_queue::contend(const std::shared_ptr<acquire_call>& a) {
    busy_ = admits_ == admits::one_at_a_time;
    end_wait_for_turn(*a);
    a->participant_ = std::make_shared<queue_participant>(
        core_,
        queue_participant::settings{.recipe = a->recipe_,
                                    .directory_known = directory_known_,
                                    .only_if_first = a->only_looks()},
        a);
    const auto keep = a->participant_;
    participant_ = keep;
    keep->start();
}

/// Returns the hold of `a`. The other callers contend after it, or hold in its place.
hold local_queue::publish(const acquire_call& a, attempt::grant g) {
    held_place::use use{.released = [self = shared_from_this()] { self->advance(); }};
    if (turns_ && !retired_) {
        use.turns = turns_;
        // The turns keep this function, and the queue keeps them.
        use.serve = [weak = weak_from_this()] {
            if (const auto queue = weak.lock()) {
                queue->serve();
            }
        };
    }
    return held_place::publish(core_, a.recipe_, std::move(g), a.span_, std::move(use));
}

void local_queue::on_outcome(acquire_call& a, queue_participant::outcome o) {
    hold granted = o.granted ? publish(a, *std::move(o.granted)) : hold();
    if (o.granted) {
        directory_known_ = true;
        participant_.reset();
        held_ = hold_state::of(granted);
    }
    a.participant_.reset();
    a.finish({std::move(o.why), std::move(granted)});
    if (!o.granted) {
        advance();
    }
}

/// Lets the next caller contend: none of this object does now.
void local_queue::advance() {
    busy_ = false;
    participant_.reset();
    held_.reset();
    while (!busy_ && !waiting_.empty()) {
        contend(take_first());
    }
}

std::shared_ptr<acquire_call> local_queue::take_first() {
    auto first = std::move(waiting_.front());
    waiting_.pop_front();
    if (waiting_.empty()) {
        core_->detach(this);
    }
    return first;
}

// ---- turns ----

/// The first that waits gets the turn, if one can begin. Threads that run already are faster; it
/// lets them pass for a while.
void local_queue::serve() {
    if (!turns_ || waiting_.empty()) {
        return;
    }
    const auto now = core_->loop().now();
    if (hold turn = turns_->take(&waiting_.front()->span_); !is_empty(turn)) {
        served_ = now;
        held_ = hold_state::of(turn);
        take_first()->finish({{}, std::move(turn)});
    } else if (now - served_ > longest_passing) {
        turns_->keep_for_the_first();
    }
    confirm_if_ahead_is();
}

void local_queue::end_wait_for_turn(acquire_call& a) noexcept {
    if (std::exchange(a.waits_for_turn_, false)) {
        turns_->caller_goes();
    }
}

void local_queue::retire() {
    core_->post([self = shared_from_this()] {
        self->retired_ = true;
        self->turns_->close();
    });
}

void local_queue::cancel(const std::shared_ptr<acquire_call>& a) {
    if (a->participant_) {
        a->participant_->cancel();
        return;
    }
    if (std::erase(waiting_, a) > 0 && waiting_.empty()) {
        core_->detach(this);
    }
    a->finish({});
}

void local_queue::client_closed(const failure& why) {
    core_->detach(this);
    for (const auto& a : std::exchange(waiting_, {})) {
        a->finish({why});
    }
}

}  // namespace latchkey::inline v0

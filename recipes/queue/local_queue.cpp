#include "queue/local_queue.hpp"

#include "text/path.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {
namespace {

/// How long threads that run may pass those that wait: each time that a thread is woken costs more
/// than many turns. (Go's sync.Mutex begins to hand over in order after the same time.)
constexpr auto longest_passing = std::chrono::milliseconds(1);

using reserved_function = std::function<void(const queue_position&)>;

std::shared_ptr<const reserved_function> kept_reserved(client_core& core, reserved_function f) {
    return f ? core.callbacks().keep(std::move(f)) : nullptr;
}

}  // namespace

// ---- one call ----

acquire_call::acquire_call(std::shared_ptr<local_queue> queue,
                           std::shared_ptr<const queue_recipe> recipe,
                           reserved_function reserved)
    : user_call(queue->core()),
      queue_(std::move(queue)),
      recipe_(std::move(recipe)),
      reserved_(kept_reserved(*core(), std::move(reserved))),
      span_{.begun = core()->loop().now()} {}

call_aim acquire_call::aim() const {
    call_aim all{"acquire", recipe_->directories()};
    if (all.paths.front() != recipe_->users_path()) {
        all.paths.insert(all.paths.begin(), recipe_->users_path());
    }
    return all;
}

void acquire_call::begin() {
    begin_span();
    queue_->arrive(self());
}

/// Which may end before begin().
void acquire_call::begin_span() {
    if (span_.id == 0) {
        span_ = core()->telemetry().begin(recipe_->users_path(), recipe_->leads, span_.begun);
    }
}

void acquire_call::note_end(const result& r) {
    queue_->stop_waiting(*this);
    if (is_empty(r.value)) {
        begin_span();
        core()->telemetry().not_granted(span_, r.why);
    }
}

// ---- ... that contends ----

void acquire_call::on_place(const queue_position* p) {
    if (p == nullptr) {
        return;
    }
    core()->telemetry().queued(span_, p->path, p->position, recipe_->mode);
    if (reserved_ && !only_looks()) {
        core()->call([tell = reserved_, place = *p] { (*tell)(place); });
    }
}

void acquire_call::on_confirmed() {
    confirmed_ = true;
    queue_->on_confirmed(*this);
}

// ---- the queue ----

std::shared_ptr<acquire_call> local_queue::call(std::shared_ptr<const queue_recipe> recipe,
                                                reserved_function reserved) {
    auto a =
        std::make_shared<acquire_call>(shared_from_this(), std::move(recipe), std::move(reserved));
    if (turns_) {
        turns_->caller_comes();  // a turn that ends before this call has arrived is for it
        a->waits_ = true;
    }
    return a;
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

void local_queue::on_confirmed(const acquire_call& a) {
    if (busy_ && participant_.lock() == a.participant_) {
        confirm_waiting();
    }
}

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
        held = std::move(seen.hold);
    }
    if (held) {
        return held->valid() || core_->connected();
    }
    return busy_ && core_->connected();  // a hold was released, and its place stays for a while
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
        withdraw(a);
    }
}

void local_queue::session_connected() {
    confirm_if_ahead_is();
}

// ---- contending ----

void local_queue::contend(const std::shared_ptr<acquire_call>& a) {
    busy_ = admits_ == admits::one_at_a_time;
    stop_waiting(*a);
    a->for_others_ = busy_;
    a->participant_ = std::make_shared<queue_participant>(
        core_,
        queue_participant::settings{.recipe = a->recipe_,
                                    .directory_known = directory_known_,
                                    .only_if_first = a->only_looks()},
        a);
    const auto keep = a->participant_;
    if (busy_) {
        participant_ = keep;
    }
    keep->start();
}

/// The hold of `a`. The other callers contend after it, or hold in its place.
hold local_queue::publish(const acquire_call& a, attempt::grant g) {
    held_place::notifications then;
    held_place::turns turns;
    if (a.for_others_) {
        then.released = [self = shared_from_this()] { self->advance(); };
    }
    if (a.for_others_ && turns_ && !retired_) {
        // The turns keep this function, and the queue keeps them.
        turns = {turns_, [weak = weak_from_this()] {
                     if (const auto queue = weak.lock()) {
                         queue->serve();
                     }
                 }};
    }
    return held_place::publish(
        core_, a.recipe_, std::move(g), a.span_, std::move(then), std::move(turns));
}

void local_queue::on_contended(acquire_call& a, queue_participant::outcome o) {
    hold granted = o.granted ? publish(a, *std::move(o.granted)) : hold();
    const bool for_others = a.for_others_;
    if (o.granted && for_others) {
        participant_.reset();
        held_ = hold_state::of(granted);
    }
    directory_known_ = directory_known_ || o.granted;
    a.participant_.reset();
    a.finish({std::move(o.why), std::move(granted)});
    if (for_others && !o.granted) {
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
    if (serve(waiting_.front())) {
        served_ = now;
    } else if (now - served_ > longest_passing) {
        turns_->keep_for_the_first();
    }
    confirm_if_ahead_is();
}

/// A turn for the first that waits, if one can begin.
bool local_queue::serve(std::shared_ptr<acquire_call> first) {
    hold turn = turns_->take(&first->span_);
    if (is_empty(turn)) {
        return false;
    }
    static_cast<void>(take_first());
    held_ = hold_state::of(turn);
    first->finish({{}, std::move(turn)});
    return true;
}

void local_queue::stop_waiting(acquire_call& a) noexcept {
    if (std::exchange(a.waits_, false)) {
        turns_->caller_goes();
    }
}

void local_queue::retire() {
    core_->post([self = shared_from_this()] {
        self->retired_ = true;
        self->turns_->close();
    });
}

void local_queue::withdraw(const std::shared_ptr<acquire_call>& a) {
    if (a->participant_) {
        a->participant_->cancel();
        return;
    }
    const auto found = std::find(waiting_.begin(), waiting_.end(), a);
    if (found != waiting_.end()) {
        waiting_.erase(found);
        if (waiting_.empty()) {
            core_->detach(this);
        }
        a->finish({});
        if (turns_) {
            turns_->look();
        }
    } else {
        a->finish({});  // it has not arrived yet
    }
}

void local_queue::client_closed(const failure& why) {
    core_->detach(this);
    for (const auto& a : std::exchange(waiting_, {})) {
        a->finish({why});
    }
}

}  // namespace latchkey::inline v0

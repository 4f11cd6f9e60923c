#include "leader_worker.hpp"

#include "leader_acts.hpp"
#include "leader_petition.hpp"
#include "plan.hpp"
#include "program.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace latchkey::simulation {

using closing = leader_latch::closing;

namespace {

leader_preference draw_preference(stage& s) {
    const auto some = [&] {
        return std::chrono::ceil<std::chrono::milliseconds>(
            s.up_to("draw_preference", s.what.session_timeout));
    };
    return {.priority = static_cast<int>(s.random("draw_preference").below(3)),
            .hysteresis = some(),
            .cool_down = some(),
            .drain = some()};
}

}  // namespace

leader_worker::leader_worker(program& of, std::size_t object, std::string name)
    : caller(of, object, std::move(name)),
      judge_(static_cast<leader_judge&>(of.judge_)),
      cancel_(of.loop()) {}

/// While it does not lead.
void leader_worker::go_on() {
    if (!latch_) {
        return stage_.stopping ? void() : become_candidate();
    }
    if (candidacy_->closed) {
        return destroy();
    }
    switch (stage_.calm ? 99 : stage_.random("go_on").below(20)) {
        case 0:
            close(closing::silent);
            break;
        case 1:
            close(closing::notifying);
            break;
        case 2:
            destroy();
            break;
        case 3:
        case 4:
            listen_besides();
            break;
        default:
            petition();
            if (!stage_.stopping && stage_.random("go_on").chance(0.5)) {
                wait();
            }
            break;
    }
    rest();
}

/// Anybody may, who can write there; for anybody, also who is not there, or leads himself.
void leader_worker::petition() {
    if (stage_.stopping || !stage_.random("petition").chance(stage_.what.petitions)) {
        return;
    }
    const bool for_nobody = stage_.random("petition").chance(0.5);
    judge_.disturbs(*of_.record());
    ask_to_resign(of_, of_.object_at(object_).paths.front(), for_nobody ? "" : somebody());
}

std::string leader_worker::somebody() {
    return "c" + std::to_string(stage_.random("somebody").below(stage_.what.clients.size() + 1)) +
           ".0";
}

// ---- a candidate ----

void leader_worker::become_candidate() {
    client* const c = of_.usable_client();
    if (c == nullptr) {
        return rest();
    }
    const program::object& o = of_.object_at(object_);
    stage_.recipe.meanwhile(stage_, o.what);
    leader_options options{.id = name_};
    if (stage_.random("become_candidate").chance(0.3)) {
        options.on_suspended = suspended_policy::step_down;
    }
    if (stage_.random("become_candidate").chance(stage_.what.preferring)) {
        options.preference = draw_preference(stage_);
    }
    candidacy_ = std::make_shared<candidacy>();
    candidacy_->by = of_.record();
    candidacy_->who = name_;
    candidacy_->directory = o.what.directory;
    candidacy_->steps_down = options.on_suspended == suspended_policy::step_down;
    candidacy_->preference = options.preference;
    judge_.begins(candidacy_);
    options.data = candidacy_->data;
    options.access = leader_log::mark_of(*candidacy_);
    latch_ = std::make_unique<leader_latch>(*c, o.paths.front(), options);
    candidacy_->latch = latch_.get();
    listen();
    if (call_ || stage_.random("become_candidate").chance(0.7)) {
        latch_->start();  // else who waits does that
    }
    wait();
    if (latch_) {
        rest();
    }
}

void leader_worker::listen() {
    const auto weak = weak_from_this();
    listening_.push_back(
        latch_->on_change({.elected =
                               [weak, c = candidacy_](const leadership& term) {
                                   if (const auto self = weak.lock()) {
                                       self->elected(*c, term);
                                   }
                               },
                           .lost =
                               [weak, c = candidacy_](const leadership& term, loss_reason why) {
                                   if (const auto self = weak.lock()) {
                                       self->lost(*c, term, why);
                                   }
                               },
                           .refused =
                               [weak, c = candidacy_](const error& why) {
                                   if (const auto self = weak.lock()) {
                                       self->refused(*c, why.code());
                                   }
                               },
                           .chosen = [&j = judge_, c = candidacy_] { j.chosen(*c); }}));
}

/// Somebody else, from some time on: he hears of the present term as well.
void leader_worker::listen_besides() {
    if (besides_) {
        return besides_.reset();
    }
    const auto told = std::make_shared<second_listener>();
    const auto tell = [&j = judge_, told, c = candidacy_](const leadership& term, bool leads) {
        j.hears(*told, *c, term, leads);
    };
    besides_ = latch_->on_change(
        {.elected = [tell](const leadership& term) { tell(term, true); },
         .lost = [tell](const leadership& term, loss_reason) { tell(term, false); }});
}

void leader_worker::wait() {
    if (call_ || !latch_ || candidacy_->closed) {
        return;
    }
    const auto c = std::make_shared<call>();
    c->by = of_.record();
    c->who = name_;
    c->directory = candidacy_->directory;
    c->directories = {c->directory};
    if (stage_.random("wait").chance(stage_.what.tries)) {
        c->limit = stage_.random("wait").chance(0.5) ? duration{} : duration(-1);
    } else if (stage_.random("wait").chance(1.0 / 3)) {
        c->limit = stage_.up_to("wait", stage_.what.session_timeout);
    }
    stop_.emplace();
    if (stage_.random("wait").chance(0.1)) {
        cancel_.start(stage_.up_to("wait", stage_.what.session_timeout), [this] { cancel(); });
    }
    call_ = c;
    judge_.judge::begins(c);
    latch_->async_wait(
        c->limit.value_or(duration::max()),
        stop_->get_token(),
        [weak = weak_from_this(), c, by = candidacy_](std::error_code ec, const leadership& term) {
            if (const auto self = weak.lock()) {
                self->waited(*c, ec, term, *by);
            }
        });
    if (stage_.random("wait").chance(0.02)) {
        cancel();
    }
}

void leader_worker::cancel() {
    if (call_ && stop_) {
        ask_to_stop(call_.get(), *stop_);
    }
}

void leader_worker::waited(call& c,
                           std::error_code ec,
                           const leadership& term,
                           const candidacy& by) {
    judge_.waited(c, ec, term, by);
    call_.reset();
    cancel_.cancel();
    misbehave();
}

/// From inside a callback.
void leader_worker::misbehave() {
    if (stage_.calm || stage_.over()) {
        return;
    }
    switch (stage_.random("misbehave").below(50)) {
        case 0:
            throw std::runtime_error("from a listener");
        case 1:
            return release();
        case 2:
            return close(closing::silent);
        case 3:
            return close(closing::notifying);
        case 4:
            return destroy();
        case 5:
            return wait();
        case 6:
            destroy();
            return become_candidate();
        case 7:
            return latch_ ? listen_besides() : void();
        case 8:
            throw 4;  // NOLINT: anything may be thrown
        default:
            return;
    }
}

// ---- leading ----

void leader_worker::elected(candidacy& c, const leadership& term) {
    judge_.elected(c, term);
    if (&c == candidacy_.get()) {
        acts_left_ = static_cast<int>(stage_.random("elected").below(4));
        plan_next();
    }
    misbehave();
}

void leader_worker::lost(candidacy& c, const leadership& term, loss_reason why) {
    judge_.lost(c, term, why);
    if (&c == candidacy_.get()) {
        rest();
    }
    misbehave();
}

void leader_worker::refused(const candidacy& c, std::error_code why) {
    judge_.refused(c, why);
    if (&c == candidacy_.get() && stage_.stopping && why == errc::sequence_exhausted) {
        close(closing::silent);  // no client can be a candidate there any more
    }
}

void leader_worker::plan_next() {
    next_.start(stage_.up_to("plan_next", stage_.longest_hold() / (acts_left_ + 1)),
                [this] { act(); });
}

void leader_worker::act() {
    if (!latch_ || candidacy_->closed || !candidacy_->term) {
        return rest();
    }
    if (stage_.stopping) {
        close(stage_.random("act").chance(0.5) ? closing::silent : closing::notifying);
        return rest();
    }
    if (candidacy_->handle.hand_over_requested().stop_requested() &&
        stage_.random("act").chance(0.8)) {
        release();
        return rest();
    }
    if (acts_left_-- <= 0) {
        if (stage_.random("act").chance(0.7)) {
            release();
            return rest();
        }
        acts_left_ = static_cast<int>(stage_.random("act").below(4));
    }
    // It may have been stopped since it last looked, and does not look again.
    switch (stage_.random("act").below(candidacy_->takes_part() ? 4 : 3)) {
        case 0:
            judge_.acts(*candidacy_->term);
            break;
        case 1:
            transact(of_, *candidacy_, stage_.random("act").chance(0.5));
            break;
        case 3:
            hand_over();
            break;
        default:
            proclaim(of_, *candidacy_);
            break;
    }
    plan_next();
}

/// To anybody, also who is not there, or takes no part in it.
void leader_worker::hand_over() {
    const std::string to = somebody();
    const std::size_t order = judge_.hands_over(*candidacy_, to);
    latch_->async_transfer_to(
        to,
        // Some are over before the other one can accept.
        stage_.up_to("hand_over",
                     stage_.what.session_timeout /
                         (stage_.random("brief_hand_over").chance(0.1) ? 1'000 : 4)),
        [&j = judge_, c = candidacy_, order](std::error_code ec, leader_latch::transfer what) {
            j.transferred(*c, order, ec, what);
        });
}

// ---- the end ----

void leader_worker::release() {
    if (latch_ && !candidacy_->closed) {
        latch_->resign();
        judge_.resigned(*candidacy_);
    }
}

void leader_worker::close(closing how) {
    if (latch_ && !candidacy_->closed) {
        latch_->close(how);
        judge_.closed(*candidacy_, how, false);
    }
}

void leader_worker::destroy() {
    if (latch_) {
        besides_.reset();
        candidacy_->latch = nullptr;
        std::exchange(latch_, nullptr).reset();
        judge_.closed(*candidacy_, closing::silent, true);
        rest();
    }
}

}  // namespace latchkey::simulation

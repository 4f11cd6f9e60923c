#include "worker.hpp"

#include "hold/hold_state.hpp"
#include "plan.hpp"
#include "program.hpp"
#include "register_write.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace latchkey::simulation {

worker::worker(program& of, std::size_t object, std::string name)
    : caller(of, object, std::move(name)), judge_(of.judge_), cancel_(of.loop()) {}

// ---- acquiring ----

/// No limit, some time, or none at all.
std::optional<duration> worker::draw_limit() {
    if (stage_.random("draw_limit").chance(stage_.what.tries)) {
        return stage_.random("draw_limit").chance(0.5) ? duration{} : duration(-1);
    }
    if (stage_.random("draw_limit").chance(1.0 / 3)) {
        return stage_.up_to("draw_limit", stage_.what.session_timeout);
    }
    return std::nullopt;
}

void worker::go_on() {
    program::object* const o = of_.usable(object_);
    if (call_ || held_ || stage_.stopping || o == nullptr) {
        return;
    }
    stage_.recipe.meanwhile(stage_, o->what);
    const auto c = std::make_shared<call>();
    c->by = of_.record();
    c->who = name_;
    c->directories = o->what.directories();
    c->directory = c->directories.front();
    c->places = stage_.recipe.queues_of(o->what);
    c->object = o->number;
    c->what = stage_.recipe.draw_wish(stage_.what, stage_.random("wish"));
    c->stated = o->used->stated_limit();
    c->times = o->used->times;
    c->limit = draw_limit();
    acquire_options how;
    stop_.reset();
    if (stage_.random("begin").chance(0.3)) {
        stop_.emplace();
        how.stop = stop_->get_token();
        if (stage_.random("begin").chance(0.3)) {
            cancel_.start(stage_.up_to("begin", stage_.what.session_timeout), [this] { cancel(); });
        }
    }
    if (stage_.random("begin").chance(0.3)) {
        how.reserved = [this](const queue_position&) { reserved(); };
    }
    call_ = c;
    judge_.begins(c);
    auto handler = [weak = weak_from_this(), c](std::error_code ec, hold h) {
        if (const auto self = weak.lock()) {
            self->told(*c, ec, std::move(h));
        }
    };
    o->used->acquire(c->what, c->limit, std::move(how), std::move(handler));
    if (stage_.random("begin").chance(0.02)) {
        cancel();
    }
}

void worker::reserved() {
    switch (stage_.calm ? 99 : stage_.random("reserved").below(30)) {
        case 0:
            throw std::runtime_error("from a callback");
        case 1:
            return cancel();
        case 2:
            return of_.destroy_mutex(object_);
        default:
            return;
    }
}

void worker::cancel() {
    if (call_ && stop_) {
        ask_to_stop(call_.get(), *stop_);
    } else if (change_) {
        ask_to_stop(nullptr, *change_);
    }
}

void worker::told(call& c, std::error_code ec, hold h) {
    judge_.told(c, ec, h);
    call_.reset();
    cancel_.cancel();
    if (is_empty(h)) {
        rest();
    } else {
        hold_ = std::move(h);
        held_ = std::make_unique<held>();
        held_->by = of_.record();
        held_->what = &hold_;
        held_->who = name_;
        held_->directory = c.directory;
        held_->object = c.object;
        held_->as = c.what;
        held_->times = c.times;
        held_->told_at_once = c.pauses_before == c.by->pauses;
        judge_.takes(*held_);
        read_register();
        acts_left_ = static_cast<int>(stage_.random("told").below(4));
        plan_next();
        listen();
    }
    if (stage_.calm || stage_.over()) {
        return;
    }
    // From inside the handler.
    switch (stage_.random("told").below(40)) {
        case 0:
            throw std::runtime_error("from a handler");
        case 1:
            return release();
        case 2:
            return of_.destroy_mutex(object_);
        case 3:
            release();
            return go_on();
        case 4:
            throw 4;  // NOLINT: anything may be thrown
        default:
            return;
    }
}

// ---- holding ----

/// What the holders before have written: it must be seen.
void worker::read_register() {
    if (const client* const c = stage_.what.direct > 0 ? of_.usable_client() : nullptr) {
        c->async_get(register_path + held_->by->chroot.size(),
                     read_from::any_server,
                     [&by = judge_, who = name_, least = judge_.written_before(*held_)](
                         std::error_code ec, const std::optional<znode>& z) {
                         if (!ec && z) {
                             by.reads(who, z->stat.mzxid, least);
                         }
                     });
    }
}

void worker::listen() {
    if (stage_.random("listen").chance(0.5)) {
        on_lost_.emplace(hold_.lost(), [this] { lost(); });
    }
}

void worker::plan_next() {
    next_.start(stage_.up_to("plan_next", stage_.longest_hold() / (acts_left_ + 1)),
                [this] { act(); });
}

void worker::act() {
    if (!held_) {
        return;
    }
    if (acts_left_-- <= 0) {
        return release();
    }
    if (const auto to = stage_.recipe.draw_change(stage_.random("act"), held_->as.mode)) {
        return change(*to);
    }
    // It may have been stopped since it last looked, and does not look again.
    if (stage_.random("act").chance(0.5)) {
        judge_.acts(*held_);
    } else {
        transact();
    }
    plan_next();
}

void worker::transact() {
    deal d;
    d.by = of_.record();
    d.who = name_;
    d.directory = held_->directory;
    d.token = held_->token;
    d.ordered = judge_.orders(*held_);
    d.places = judge_.places_of(*held_->by, hold_.paths());
    d.once = stage_.random("transact").chance(0.5);
    write_to_register(judge_, std::move(d), hold_);
}

/// To another mode, in all the ways that a conversion may end.
void worker::change(lock_mode to) {
    program::object* const o = of_.usable(object_);
    if (o == nullptr) {
        return release();
    }
    change_.emplace();
    const std::optional<duration> limit = draw_limit();
    judge_.changes(*held_, to, limit);
    delay_of_change_ = o->used->times.lock_delay;
    o->used->convert(std::move(hold_),
                     to,
                     limit,
                     {.stop = change_->get_token(), .reserved = nullptr},
                     [weak = weak_from_this()](std::error_code ec, hold h) {
                         if (const auto self = weak.lock()) {
                             self->changed(ec, std::move(h));
                         }
                     });
    if (stage_.random("change").chance(0.1)) {
        cancel_.start(stage_.up_to("change", stage_.what.session_timeout / 4),
                      [this] { cancel(); });
    }
}

void worker::changed(std::error_code ec, hold h) {
    hold_ = std::move(h);
    const fencing_token before = held_->token;
    judge_.changed(*held_, ec);
    change_.reset();
    cancel_.cancel();
    if (std::exchange(done_with_it_, false)) {
        return release();
    }
    if (hold_.token() != before) {
        held_->times.lock_delay = delay_of_change_;  // by another object than before, perhaps
        listen();
    }
    plan_next();
}

void worker::release() {
    if (!held_) {
        return;
    }
    if (change_) {
        done_with_it_ = true;
        return cancel();
    }
    judge_.releases(*held_);
    held_.reset();
    switch (stage_.random("release").below(3)) {
        case 0:
            hold_.release();
            break;
        case 1: {
            const hold last = std::move(hold_);
            break;
        }
        default:
            hold_ = hold();
            break;
    }
    rest();
}

/// The stop callback: the work ends now, or a little later.
void worker::lost() {
    stage_.tell(name_, " hears that it lost");
    if (held_ && stage_.random("lost").chance(0.5)) {
        release();
    }
}

}  // namespace latchkey::simulation

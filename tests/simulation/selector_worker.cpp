#include "selector_worker.hpp"

#include "client/client_core.hpp"
#include "client/fork_safe.hpp"
#include "leader_acts.hpp"
#include "plan.hpp"
#include "program.hpp"

#include <stdexcept>
#include <utility>

namespace latchkey::simulation {

using state = selector_status;

selector_worker::selector_worker(program& of, std::size_t object, std::string name)
    : caller(of, object, std::move(name)),
      judge_(static_cast<selector_judge&>(of.judge_)),
      work_(of.loop()) {}

void selector_worker::go_on() {
    if (!selector_) {
        if (!call_ && !stage_.stopping) {
            make();
        }
        return rest();
    }
    if (selection_->closed) {
        destroy();
        return rest();
    }
    switch (stage_.calm ? 99 : stage_.random("go_on").below(20)) {
        case 0:
            close();
            break;
        case 1:
            destroy();
            break;
        case 2:
        case 3:
            interrupt();
            break;
        default:
            if (!stage_.stopping) {
                start();
            } else if (selector_->present() == state::idle) {
                close();
            }
            break;
    }
    rest();
}

void selector_worker::make() {
    client* const c = of_.usable_client();
    if (c == nullptr) {
        return;
    }
    const program::object& o = of_.object_at(object_);
    stage_.recipe.meanwhile(stage_, o.what);
    leader_options options{.id = name_};
    if (stage_.random("make").chance(0.3)) {
        options.on_suspended = suspended_policy::step_down;
    }
    selection_ = std::make_shared<selection>();
    selection_->by = of_.record();
    selection_->who = name_;
    selection_->directory = o.what.directory;
    selection_->steps_down = options.on_suspended == suspended_policy::step_down;
    selection_->requeues = stage_.random("make").chance(0.7);
    judge_.begins(selection_);
    if (stage_.random("make").chance(0.5)) {
        selection_->data.clear();
    }
    options.data = selection_->data;
    options.access = leader_log::mark_of(*selection_);
    const auto weak = weak_from_this();
    selector_ = fork_safe<selector_loop>(
        client_core::of(*c),
        o.paths.front(),
        options,
        [weak, s = selection_](
            const leadership& term, const std::stop_token& stop, selector_loop::returned returned) {
            if (const auto self = weak.lock()) {
                self->run(s, term, stop, std::move(returned));
            }
        },
        selector_options{.requeue = selection_->requeues,
                         .failed = [weak, s = selection_](const auto& what) {
                             if (const auto self = weak.lock()) {
                                 self->failed(*s, what);
                             }
                         }});
    selection_->campaign = selector_.get();
    if (stage_.random("make").chance(0.9)) {
        start();
    }
}

void selector_worker::start() {
    if (selector_ && !selection_->closed && selector_->present() == state::idle) {
        judge_.starts(*selection_);
        selector_->start();
    }
}

// ---- the function ----

void selector_worker::run(const std::shared_ptr<selection>& c,
                          const leadership& term,
                          const std::stop_token& stop,
                          selector_loop::returned returned) {
    judge_.runs(*c, term, stop);
    if (stage_.over()) {
        return;
    }
    call_ = std::make_shared<call>();
    call_->of = c;
    call_->returned = std::move(returned);
    acts_left_ = static_cast<int>(stage_.random("run").below(4));
    if (stage_.random("run").chance(0.1)) {
        return return_now();
    }
    call_->on_stop.emplace(stop, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) {
            self->asked();
        }
    });
    plan_next();
    misbehave();
}

void selector_worker::plan_next() {
    work_.start(stage_.up_to("plan_next", stage_.longest_hold() / (acts_left_ + 1)),
                [this] { act(); });
}

void selector_worker::act() {
    if (!call_) {
        return;
    }
    if (acts_left_-- <= 0) {
        return return_now();
    }
    // It may have been stopped since it last looked, and does not look again.
    switch (stage_.random("act").below(3)) {
        case 0:
            judge_.acts(*call_->of->term);
            break;
        case 1:
            transact(of_, *call_->of, stage_.random("act").chance(0.5));
            break;
        default:
            proclaim(of_, *call_->of);
            break;
    }
    plan_next();
}

/// It returns soon, or takes no notice.
void selector_worker::asked() {
    stage_.tell(name_, "'s function is to return");
    if (stage_.random("asked").chance(0.7)) {
        acts_left_ = 0;
        work_.start(stage_.up_to("asked", stage_.what.session_timeout / 20), [this] { act(); });
    }
}

void selector_worker::return_now() {
    const auto last = std::exchange(call_, nullptr);
    work_.cancel();
    last->on_stop.reset();
    selection& c = *last->of;
    const bool own = &c == selection_.get();
    if (stage_.stopping && own) {
        close();
    }
    const bool throws = !stage_.calm && stage_.random("return_now").chance(0.15);
    last->returned(throws ? std::make_exception_ptr(thrown_by_function{c.number}) : nullptr);
    judge_.returned(c, throws);
}

void selector_worker::failed(selection& c, const std::exception_ptr& what) {
    judge_.reported(c, what);
    if (&c == selection_.get() && stage_.stopping && !c.closed) {
        try {
            std::rethrow_exception(what);
        } catch (const error& e) {
            if (e.code() == errc::sequence_exhausted) {
                close();  // no client can be a candidate there any more
            }
        } catch (...) {  // NOLINT: what the function threw is no reason
        }
    }
    misbehave();
}

/// From inside the function, or `failed`.
void selector_worker::misbehave() {
    if (stage_.calm || stage_.over()) {
        return;
    }
    switch (stage_.random("misbehave").below(40)) {
        case 0:
            return close();
        case 1:
            return destroy();
        case 2:
            return interrupt();
        case 3:
            return start();
        default:
            return;
    }
}

// ---- the end ----

void selector_worker::interrupt() {
    if (selector_ && !selection_->closed) {
        judge_.interrupted(*selection_);
        selector_->interrupt();
    }
}

void selector_worker::close() {
    if (selector_ && !selection_->closed) {
        judge_.closed(*selection_, false);
        static_cast<void>(selector_->close(no_timeout));
    }
}

/// As ~leader_selector does; a function that runs goes on.
void selector_worker::destroy() {
    if (selector_) {
        judge_.closed(*selection_, true);
        static_cast<void>(std::exchange(selector_, nullptr)->close(no_timeout));
    }
}

}  // namespace latchkey::simulation

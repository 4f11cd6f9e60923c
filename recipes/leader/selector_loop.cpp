#include "leader/selector_loop.hpp"

#include "call/exceptions.hpp"
#include "client/fork_safe.hpp"
#include "leader/candidate_config.hpp"
#include "loop/interruption.hpp"
#include "queue/znode_names.hpp"
#include "text/escape.hpp"

#include <optional>
#include <utility>

namespace latchkey::inline v0 {
namespace {

/// The selector whose user code runs on this thread.
thread_local const selector_loop* running = nullptr;

class running_here {
public:
    explicit running_here(const selector_loop* c) : before_(std::exchange(running, c)) {}

    running_here(const running_here&) = delete;
    running_here& operator=(const running_here&) = delete;

    ~running_here() { running = before_; }

private:
    const selector_loop* const before_;
};

}  // namespace

std::shared_ptr<selector_loop> selector_loop::make(const std::shared_ptr<client_core>& core,
                                                   std::string path,
                                                   leader_options who,
                                                   work fn,
                                                   selector_options how) {
    // Its grant is that of a mutex.
    return fork_safe<selector_loop>(
        core,
        check_candidate(*core, std::move(path), lock_names, std::move(who)),
        std::move(fn),
        std::move(how));
}

selector_loop::selector_loop(const std::shared_ptr<client_core>& core,
                             candidate_config c,
                             work fn,
                             selector_options how)
    : acquire_(core, local_queue::admits::one_at_a_time),
      as_(std::make_shared<const queue_recipe>(std::move(c.queue))),
      who_(std::move(c.who)),
      fn_(core->callbacks().keep(std::move(fn))),
      how_(core->callbacks().keep(std::move(how))),
      executor_(core->make_executor("latchkey-leader")),
      pause_(core->loop()) {}

// ---- any thread ----

void selector_loop::start() {
    core()->check_not_forked();
    executor_([] {});  // starts its thread here, so that the caller sees a failure
    {
        const monitor_lock lock(guard_);
        if (closing_ || state_ == state::closed) {
            throw error(errc::closed,
                        '"' + escaped(path()) + "\": this leader_selector was closed");
        }
        if (state_ != state::idle) {
            return;
        }
        state_ = state::waiting;
    }
    core()->post([self = shared_from_this()] { self->enter(); });
}

void selector_loop::interrupt() noexcept {
    std::stop_source stop = [this] {
        const monitor_lock lock(guard_);
        return stop_;
    }();
    stop.request_stop();
}

bool selector_loop::close(std::chrono::nanoseconds timeout) noexcept {
    {
        const monitor_lock lock(guard_);
        closing_ = true;
    }
    interrupt();
    core()->post([self = shared_from_this()] { self->on_close(); });
    if (!core()->may_block() || running == this) {
        return present() == state::closed;
    }
    const uninterrupted until_the_end;
    const auto end = deadline_after(timeout);
    monitor_lock lock(guard_);
    while (state_ != state::closed && lock.wait_until(closed_, end)) {
    }
    return state_ == state::closed;
}

void selector_loop::set(state s) {
    const monitor_lock lock(guard_);
    state_ = s;
}

/// If the selector is not a candidate now, it becomes one and is refused. That is reported, and
/// ends the selector.
void selector_loop::client_closed(const failure&) {
    const auto self = shared_from_this();
    core()->detach(this);
    if (pause_.running() || present() == state::idle) {
        pause_.cancel();
        enter();
    }
}

// ---- candidate and leader ----

void selector_loop::enter() {
    if (closing()) {
        return end();
    }
    if (!std::exchange(attached_, true) && !core()->closed_why()) {
        core()->attach(shared_from_this());
    }
    set(state::waiting);
    begun_ = core()->loop().now();
    acquire_call_ = acquire_.enter(
        as_, local_queue::for_ever, {}, [self = shared_from_this()](acquire_call::result a) {
            self->on_acquired(std::move(a));
        });
}

void selector_loop::on_acquired(acquire_call::result a) {
    acquire_call_.reset();
    if (a.why) {
        fail(core()->callbacks().keep(exception_of(a.why)));
    } else if (!is_empty(a.value) && !closing()) {
        lead(std::move(a.value));
    } else {
        end();
    }
}

void selector_loop::lead(hold granted) {
    const auto e = std::make_shared<execution>();
    e->term = leader_term::make(std::move(granted), who_->id, who_->data, std::nullopt);
    begun_ = core()->loop().now();
    {
        const monitor_lock lock(guard_);
        term_ = e->term;
        stop_ = e->stop;
        state_ = state::leading;
    }
    if (!who_->data.empty()) {
        e->term->publish();
    }
    executor_([self = shared_from_this(), e] { self->execute(e); });
}

void selector_loop::execute(const std::shared_ptr<execution>& e) {
    const running_here marked(this);
    const auto handle = leader_term::handle(e->term);
    if (closing() || !handle.valid()) {
        return finish(e, false, nullptr);
    }
    const auto ask = [stop = e->stop]() mutable { stop.request_stop(); };
    e->on_loss.emplace(handle.lost(), ask);
    e->on_wish.emplace(handle.hand_over_requested(), ask);
    (*fn_)(handle,
           e->stop.get_token(),
           [self = shared_from_this(), e](const std::exception_ptr& threw) {
               self->finish(e, true, threw);
           });
}

void selector_loop::finish(const std::shared_ptr<execution>& e,
                           bool called,
                           const std::exception_ptr& threw) {
    e->on_loss.reset();
    e->on_wish.reset();
    e->term->state().lose(loss_reason::resigned);
    core()->post([self = shared_from_this(), e, called, threw = core()->callbacks().keep(threw)] {
        self->on_returned(*e, called, threw);
    });
}

void selector_loop::on_returned(const execution& e, bool called, const thrown& threw) {
    e.term->leave();
    {
        const monitor_lock lock(guard_);
        term_.reset();
        stop_ = std::stop_source(std::nostopstate);
    }
    if (*threw) {
        return fail(threw);
    }
    backoff_.reset();
    if (how_->requeue || !called || closing() || core()->closed_why()) {
        enter();
    } else {
        set(state::idle);
    }
}

// ---- what goes wrong ----

void selector_loop::fail(const thrown& what) {
    if (closing()) {
        return end();
    }
    if (core()->loop().now() - begun_ > longest_pause) {
        backoff_.reset();
    }
    const failure& why = core()->closed_why();
    const bool last = why && has_code(*what, why.code);
    set(state::pausing);
    executor_([self = shared_from_this(), what, last] {
        const running_here marked(self.get());
        if (!self->closing()) {
            self->report(*what);
        }
        self->core()->post([self, last] { last ? self->end() : self->pause(); });
    });
}

void selector_loop::report(const std::exception_ptr& what) noexcept {
    const auto log = [this](const std::exception_ptr& e, const char* who) {
        const std::string text =
            "leader_selector of \"" + path() + "\": " + who + ": " + words_of(e);
        core()->callbacks().print_once(text);
        core()->log({log_level::error, "selector", text, path()});
    };
    if (!how_->failed) {
        log(what, "failed");
        return;
    }
    try {
        how_->failed(what);
    } catch (...) {
        log(std::current_exception(), "`failed` threw");
    }
}

void selector_loop::pause() {
    if (closing() || core()->closed_why()) {
        return enter();
    }
    pause_.start(backoff_.next(core()->loop().random()), [weak = weak_from_this()] {
        if (const auto self = weak.lock()) {
            self->enter();
        }
    });
}

void selector_loop::on_close() {
    if (acquire_call_) {
        acquire_call_->cancel();
    } else if (pause_.running() || present() == state::idle) {
        end();
    }
}

void selector_loop::end() {
    const auto self = shared_from_this();
    pause_.cancel();
    core()->detach(this);
    const monitor_lock lock(guard_);
    state_ = state::closed;
    closed_.notify_all();
}

}  // namespace latchkey::inline v0

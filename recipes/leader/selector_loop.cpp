#include "leader/selector_loop.hpp"

#include "loop/interruption.hpp"
#include "loop/scoped_restore.hpp"
#include "queue/znode_names.hpp"
#include "text/escape.hpp"

#include <optional>
#include <utility>

namespace latchkey::inline v0 {
namespace {

/// The selector whose user code runs on this thread.
thread_local const selector_loop* running = nullptr;

/// Whether this is an `error` with that code.
bool has_code(const std::exception_ptr& what, const std::error_code& code) {
    try {
        std::rethrow_exception(what);
    } catch (const error& e) {
        return e.code() == code;
    } catch (...) {
        return false;
    }
}

/// The what() of an exception, or a description.
std::string words_of(const std::exception_ptr& what) {
    try {
        std::rethrow_exception(what);
    } catch (const std::exception& e) {
        return e.what();
    } catch (...) {
        return "not an exception";
    }
}

}  // namespace

/// Its grant is that of a mutex.
selector_loop::selector_loop(std::shared_ptr<client_core> core,
                             std::string path,
                             leader_options who,
                             work fn,
                             selector_options how)
    : leader_loop(std::move(core), std::move(path), lock_names, std::move(who)),
      fn_(core_->callbacks().keep(std::move(fn))),
      how_(core_->callbacks().keep(std::move(how))),
      executor_(core_->make_executor("latchkey-leader")) {}

// ---- any thread ----

void selector_loop::start() {
    core()->check_not_forked();
    executor_([] {});  // starts its thread here, so that the caller sees a failure
    {
        const monitor_lock lock(guard_);
        if (closed() || state_ == state::closed) {
            throw error(errc::closed,
                        '"' + escaped(path()) + "\": this leader_selector was closed");
        }
        if (state_ != state::idle) {
            return;
        }
        state_ = state::waiting;
    }
    core()->post([self = self()] { self->begin(); });
}

void selector_loop::on_place(const queue_position* p) {
    leader_loop::on_place(p);
    if (p == nullptr) {
        set(state::waiting);
    }
}

void selector_loop::interrupt() noexcept {
    std::stop_source stop = [this] {
        const monitor_lock lock(guard_);
        return stop_;
    }();
    stop.request_stop();
}

bool selector_loop::close(std::chrono::nanoseconds timeout) noexcept {
    note_closed();
    interrupt();
    core()->post([self = self()] { self->stop(); });
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

// ---- a term ----

task<leader_loop::next_step> selector_loop::lead(std::shared_ptr<leader_term> granted) {
    oneshot<ended> end;
    const auto e = std::make_shared<execution>();
    e->term = std::move(granted);
    e->done = end.setter();
    {
        const monitor_lock lock(guard_);
        stop_ = e->stop;
        state_ = state::leading;
    }
    if (!profile_->data.empty()) {
        e->term->publish();
    }
    executor_([self = self(), e] { self->execute(e); });
    const ended how = co_await end;
    delete_term_znode();
    {
        const monitor_lock lock(guard_);
        stop_ = std::stop_source(std::nostopstate);
    }
    if (*how.what) {
        auto failing = fail(how.what);
        const next_step next = co_await failing;
        co_return next;
    }
    pauses_.reset();
    if (how_->requeue || !how.called || closed() || core_->closed_why()) {
        set(state::waiting);
        co_return next_step::queue;
    }
    set(state::idle);
    co_return next_step::idle;
}

void selector_loop::execute(const std::shared_ptr<execution>& e) {
    const scoped_restore<const selector_loop*> marked(running, this);
    const auto handle = leader_term::handle(e->term);
    if (closed() || !handle.valid()) {
        return finish(e, false, nullptr);
    }
    const auto ask = [stop = e->stop]() mutable { stop.request_stop(); };
    e->on_loss.emplace(handle.lost(), ask);
    e->on_wish.emplace(handle.hand_over_requested(), ask);
    (*fn_)(handle, e->stop.get_token(), [self = self(), e](const std::exception_ptr& threw) {
        self->finish(e, true, threw);
    });
}

void selector_loop::finish(const std::shared_ptr<execution>& e,
                           bool called,
                           const std::exception_ptr& threw) {
    e->on_loss.reset();
    e->on_wish.reset();
    e->term->state().lose(loss_reason::resigned);
    core()->post([self = self(), e, called, threw = core()->callbacks().keep(threw)] {
        e->done({called, threw});
    });
}

// ---- what goes wrong ----

task<leader_loop::next_step> selector_loop::fail(thrown what) {
    if (closed()) {
        co_return next_step::end;
    }
    if (core_->loop().now() - begun_ > longest_pause) {
        pauses_.reset();
    }
    const failure& why = core_->closed_why();
    const bool last = why && has_code(*what, why.code);
    set(state::pausing);
    oneshot<bool> reported;
    executor_([self = self(), what, note = reported.setter()] {
        const scoped_restore<const selector_loop*> marked(running, self.get());
        if (!self->closed()) {
            self->report(*what);
        }
        self->core()->post([self, note] { note(true); });
    });
    co_await reported;
    co_return last ? next_step::end : next_step::pause;
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

void selector_loop::on_end() {
    const monitor_lock lock(guard_);
    state_ = state::closed;
    closed_.notify_all();
}

}  // namespace latchkey::inline v0

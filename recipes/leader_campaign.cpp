#include "leader_campaign.hpp"

#include "background_thread.hpp"

#include <optional>
#include <random>
#include <utility>

namespace latchkey {

// ---- what others ask ----

void leader_campaign::start() {
    if (core()->forked()) {
        throw error(errc::forked, "connect a client of its own in the child");
    }
    const monitor_lock lock(guard_);
    if (closing_.stop_requested() || state_ == state::closed) {
        throw error(errc::closed, "this selector was closed");
    }
    if (state_ != state::idle) {
        return;
    }
    wanted_ = true;
    state_ = state::waiting;
    if (!std::exchange(started_, true)) {
        core()->post([self = shared_from_this()] {
            if (self->core()->closed_why()) {
                self->client_closed({});
            } else {
                self->core()->attach(self);
            }
        });
        thread_ = start_background_thread("latchkey-leader",
                                          [self = shared_from_this()] { self->run(); });
        runs_on_ = thread_.get_id();
    }
    changed_.notify_all();
}

void leader_campaign::interrupt() noexcept {
    std::stop_source stop{std::nostopstate};
    {
        const monitor_lock lock(guard_);
        stop = stop_;
    }
    stop.request_stop();
}

void leader_campaign::close() noexcept {
    closing_.request_stop();
    const boost::this_thread::disable_interruption uninterrupted;
    boost::thread ended;
    {
        monitor_lock lock(guard_);
        changed_.notify_all();
        if (!started_) {
            state_ = state::closed;
        }
        if (!core()->may_block() || runs_on_ == boost::this_thread::get_id()) {
            if (thread_.joinable()) {
                thread_.detach();  // it keeps us alive, and nobody may come who can wait for it
            }
            return;
        }
        ended.swap(thread_);
        while (!ended.joinable() && state_ != state::closed) {
            lock.wait(changed_);  // somebody else has come first
        }
    }
    if (ended.joinable()) {
        ended.join();
    }
}

void leader_campaign::session_suspended() {
    if (who_.steps_down_when_suspended) {
        const monitor_lock lock(guard_);
        if (term_) {
            term_->state().lose(loss::suspended);
        }
    }
}

void leader_campaign::client_closed(const failure&) {
    const auto self = shared_from_this();
    core()->detach(this);
    const monitor_lock lock(guard_);
    over_ = true;
    changed_.notify_all();
}

// ---- the thread ----

void leader_campaign::run() {
    while (wait_until_wanted() && campaign()) {
    }
    core()->post([self = shared_from_this()] { self->core()->detach(self.get()); });
    const monitor_lock lock(guard_);
    state_ = state::closed;
    changed_.notify_all();
}

/// False when it was closed. The end of the client is learned from the attempt that fails.
bool leader_campaign::wait_until_wanted() {
    monitor_lock lock(guard_);
    while (!wanted_ && !over_ && !closing_.stop_requested()) {
        lock.wait(changed_);
    }
    wanted_ = how_.requeue;
    state_ = state::waiting;
    return !closing_.stop_requested();
}

/// From joining the queue to leaving it; false if that was the last time.
bool leader_campaign::campaign() {
    auto begin = boottime_clock::now();
    try {
        hold granted = acquire_.acquire(as_, local_queue::for_ever, {closing_.get_token()});
        begin = boottime_clock::now();
        if (granted) {
            lead(std::move(granted));
        }
        pauses_.reset();
        return true;
    } catch (...) {
        if (boottime_clock::now() - begin > longest_pause) {
            pauses_.reset();
        }
        return survives(std::current_exception());
    }
}

void leader_campaign::lead(hold granted) {
    const auto term =
        std::make_shared<leader_term>(std::move(granted), who_.id, who_.data, std::nullopt);
    const auto handle = leader_term::handle(term);
    std::stop_source stop;
    {
        const monitor_lock lock(guard_);
        term_ = term;
        stop_ = stop;
        state_ = state::leading;
    }
    if (!who_.data.empty()) {
        core()->post([term] { term->publish(); });
    }
    const auto ask = [&stop] { stop.request_stop(); };
    try {
        const std::stop_callback on_loss(handle.lost(), ask);
        const std::stop_callback on_wish(handle.hand_over_requested(), ask);
        const std::stop_callback on_close(closing_.get_token(), ask);
        if (handle.valid()) {
            fn_(handle, stop.get_token());
        }
    } catch (...) {
        end_term(term);
        throw;
    }
    end_term(term);
}

void leader_campaign::end_term(const std::shared_ptr<leader_term>& term) {
    term->state().lose(loss::resigned);
    core()->post([term] { term->leave(); });
    const monitor_lock lock(guard_);
    term_.reset();
    stop_ = std::stop_source(std::nostopstate);
    state_ = how_.requeue ? state::waiting : state::idle;
}

bool leader_campaign::survives(const std::exception_ptr& what) {
    if (closing_.stop_requested()) {
        return false;
    }
    report(what);
    try {
        std::rethrow_exception(what);
    } catch (const error& e) {
        if (e.code() == errc::closed || e.code() == errc::authentication_failed) {
            return false;
        }
    } catch (...) {
    }
    pause();
    return true;
}

void leader_campaign::report(const std::exception_ptr& what) noexcept {
    const auto log = [this](const std::exception_ptr& e, const char* who) {
        try {
            std::rethrow_exception(e);
        } catch (const std::exception& thrown) {
            core()->log("leader_selector of \"" + path() + "\": " + who + ": " + thrown.what());
        } catch (...) {
            core()->log("leader_selector of \"" + path() + "\": " + who + ": not an exception");
        }
    };
    if (!how_.failed) {
        log(what, "failed");
        return;
    }
    try {
        how_.failed(what);
    } catch (...) {
        log(std::current_exception(), "`failed` threw");
    }
}

void leader_campaign::pause() {
    static thread_local std::minstd_rand random{std::random_device{}()};
    const auto end = deadline_after(pauses_.next(random()));
    monitor_lock lock(guard_);
    state_ = state::pausing;
    wanted_ = true;
    while (!over_ && !closing_.stop_requested() && lock.wait_until(changed_, end)) {
    }
}

}  // namespace latchkey

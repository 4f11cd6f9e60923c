#include <latchkey/leader_selector.hpp>

#include "acquirer.hpp"
#include "background_thread.hpp"
#include "backoff.hpp"
#include "candidate.hpp"
#include "exclusive_lock.hpp"
#include "leader_term.hpp"
#include "monitor.hpp"

#include <chrono>
#include <optional>
#include <random>
#include <utility>

#include <boost/thread/thread_only.hpp>

namespace latchkey {

const char* to_string(leader_selector::state s) noexcept {
    switch (s) {
        case leader_selector::state::idle:
            return "idle";
        case leader_selector::state::waiting:
            return "waiting";
        case leader_selector::state::leading:
            return "leading";
        case leader_selector::state::pausing:
            return "pausing";
        case leader_selector::state::closed:
            return "closed";
    }
    return "unknown";
}

/// One loop on one thread, from start() to the end: candidate, term, candidate. Nothing else
/// decides what comes next; others only ask.
class leader_selector::impl final : public session_user, public std::enable_shared_from_this<impl> {
public:
    impl(const std::shared_ptr<client_core>& core,
         participation as,
         leader_terms who,
         work fn,
         behaviour how)
        : acquire_(core, local_queue::admits::one_at_a_time),
          as_(std::make_shared<const participation>(std::move(as))),
          who_(std::move(who)),
          fn_(std::move(fn)),
          how_(std::move(how)) {}

    impl(const impl&) = delete;
    impl& operator=(const impl&) = delete;

    ~impl() override {
        if (thread_.joinable()) {
            thread_.detach();  // nobody could wait for it; it is about to end
        }
    }

    void start();
    void interrupt() noexcept;
    void close() noexcept;

    [[nodiscard]] state present() const {
        const monitor_lock lock(guard_);
        return state_;
    }

    [[nodiscard]] latchkey::leadership leadership() const {
        const monitor_lock lock(guard_);
        return term_ ? leader_term::handle(term_) : latchkey::leadership();
    }

    [[nodiscard]] const std::shared_ptr<client_core>& core() const noexcept {
        return acquire_.core();
    }

    [[nodiscard]] const std::string& path() const noexcept { return as_->directory; }

    [[nodiscard]] const std::string& id() const noexcept { return who_.id; }

private:
    // session_user
    void session_connected() override {}

    void session_suspended() override;

    void session_ended(loss) override {}

    void validity_passed() override {}

    void znode_missing(const std::string&) override {}

    void client_closed(const failure&) override;

    // the thread
    void run();
    [[nodiscard]] bool wait_until_wanted();
    [[nodiscard]] bool campaign();
    void lead(hold granted);
    void end_term(const std::shared_ptr<leader_term>& term);
    [[nodiscard]] bool survives(const std::exception_ptr& what);
    void report(const std::exception_ptr& what) noexcept;
    void pause();

    const acquirer acquire_;
    const std::shared_ptr<const participation> as_;
    const leader_terms who_;
    const work fn_;
    const behaviour how_;
    backoff pauses_{std::chrono::milliseconds(100), longest_pause};

    static constexpr std::chrono::seconds longest_pause{30};

    mutable boost::mutex guard_;
    boost::condition_variable changed_;
    state state_ LATCHKEY_GUARDED_BY(guard_) = state::idle;
    bool wanted_ LATCHKEY_GUARDED_BY(guard_) = false;  ///< to be a candidate when idle
    bool over_ LATCHKEY_GUARDED_BY(guard_) = false;    ///< the client is closed
    std::shared_ptr<leader_term> term_ LATCHKEY_GUARDED_BY(guard_);
    std::stop_source stop_ LATCHKEY_GUARDED_BY(guard_){std::nostopstate};  ///< of the term
    bool started_ LATCHKEY_GUARDED_BY(guard_) = false;
    boost::thread thread_ LATCHKEY_GUARDED_BY(guard_);
    boost::thread::id runs_on_ LATCHKEY_GUARDED_BY(guard_);
    std::stop_source closing_;
};

// ---- what others ask ----

void leader_selector::impl::start() {
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

void leader_selector::impl::interrupt() noexcept {
    std::stop_source stop{std::nostopstate};
    {
        const monitor_lock lock(guard_);
        stop = stop_;
    }
    stop.request_stop();
}

void leader_selector::impl::close() noexcept {
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

void leader_selector::impl::session_suspended() {
    if (who_.steps_down_when_suspended) {
        const monitor_lock lock(guard_);
        if (term_) {
            term_->state().lose(loss::suspended);
        }
    }
}

void leader_selector::impl::client_closed(const failure&) {
    const auto self = shared_from_this();
    core()->detach(this);
    const monitor_lock lock(guard_);
    over_ = true;
    changed_.notify_all();
}

// ---- the thread ----

void leader_selector::impl::run() {
    while (wait_until_wanted() && campaign()) {
    }
    core()->post([self = shared_from_this()] { self->core()->detach(self.get()); });
    const monitor_lock lock(guard_);
    state_ = state::closed;
    changed_.notify_all();
}

/// False when it was closed. The end of the client is learned from the attempt that fails.
bool leader_selector::impl::wait_until_wanted() {
    monitor_lock lock(guard_);
    while (!wanted_ && !over_ && !closing_.stop_requested()) {
        lock.wait(changed_);
    }
    wanted_ = how_.requeue;
    state_ = state::waiting;
    return !closing_.stop_requested();
}

/// From joining the queue to leaving it; false if that was the last time.
bool leader_selector::impl::campaign() {
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

void leader_selector::impl::lead(hold granted) {
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

void leader_selector::impl::end_term(const std::shared_ptr<leader_term>& term) {
    term->state().lose(loss::resigned);
    core()->post([term] { term->leave(); });
    const monitor_lock lock(guard_);
    term_.reset();
    stop_ = std::stop_source(std::nostopstate);
    state_ = how_.requeue ? state::waiting : state::idle;
}

bool leader_selector::impl::survives(const std::exception_ptr& what) {
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

void leader_selector::impl::report(const std::exception_ptr& what) noexcept {
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

void leader_selector::impl::pause() {
    static thread_local std::minstd_rand random{std::random_device{}()};
    const auto end = deadline_after(pauses_.next(random()));
    monitor_lock lock(guard_);
    state_ = state::pausing;
    wanted_ = true;
    while (!over_ && !closing_.stop_requested() && lock.wait_until(changed_, end)) {
    }
}

// ---- the selector ----

leader_selector::leader_selector(client& c, std::string path, leader_options who, work fn)
    : leader_selector(c, std::move(path), std::move(who), std::move(fn), behaviour()) {}

leader_selector::leader_selector(
    client& c, std::string path, leader_options who, work fn, behaviour how) {
    if (!fn) {
        throw error(errc::invalid_argument, "a leader_selector without a function to call");
    }
    const auto& core = client_core::of(c);
    participation as = candidate_of(*core, std::move(path), lock_names, std::move(who));
    leader_terms terms = *std::exchange(as.leads, std::nullopt);  // its grant is that of a mutex
    impl_ = std::make_shared<impl>(
        core, std::move(as), std::move(terms), std::move(fn), std::move(how));
}

leader_selector::~leader_selector() {
    if (impl_->core()->forked()) {
        leak(impl_);
    } else {
        impl_->close();
    }
}

void leader_selector::start() {
    impl_->start();
}

void leader_selector::interrupt() noexcept {
    if (!impl_->core()->forked()) {
        impl_->interrupt();
    }
}

void leader_selector::close() noexcept {
    if (!impl_->core()->forked()) {
        impl_->close();
    }
}

leader_selector::state leader_selector::present() const noexcept {
    return impl_->core()->forked() ? state::closed : impl_->present();
}

bool leader_selector::is_leader() const noexcept {
    return leadership().valid();
}

leadership leader_selector::leadership() const {
    return impl_->core()->forked() ? latchkey::leadership() : impl_->leadership();
}

const std::string& leader_selector::path() const noexcept {
    return impl_->path();
}

const std::string& leader_selector::id() const noexcept {
    return impl_->id();
}

}  // namespace latchkey

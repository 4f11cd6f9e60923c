#pragma once

#include <latchkey/leader_selector.hpp>

#include "client/client_core.hpp"
#include "leader/candidate_config.hpp"
#include "leader/leader_term.hpp"
#include "loop/backoff.hpp"
#include "loop/monitor.hpp"
#include "queue/acquire_calls.hpp"
#include "queue/queue_recipe.hpp"

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace latchkey::inline v0 {

/// The life of a selector, from start() to the end: candidate, term, candidate, and so on. The loop
/// decides everything. Only the user's code, the function and `failed`, runs on an executor of its
/// own, one call at a time.
class selector_loop final : public session_listener,
                            public std::enable_shared_from_this<selector_loop> {
public:
    using state = selector_status;

    /// Reports that the function of a term has returned, and what it threw. Called once, on any
    /// thread.
    using returned = std::function<void(std::exception_ptr)>;

    /// The function as an asynchronous operation, which lasts until it has called `returned`.
    using work = std::function<void(const latchkey::leadership&, std::stop_token, returned)>;

    /// Throws errc::invalid_argument for options that a candidate cannot have.
    [[nodiscard]] static std::shared_ptr<selector_loop> make(
        const std::shared_ptr<client_core>& core,
        std::string path,
        leader_options who,
        work fn,
        selector_options how);

    selector_loop(const std::shared_ptr<client_core>& core,
                  candidate_config c,
                  work fn,
                  selector_options how);

    // ---- any thread ----

    void start();
    void interrupt() noexcept;

    /// Returns whether the function has returned by then.
    [[nodiscard]] bool close(std::chrono::nanoseconds timeout) noexcept;

    [[nodiscard]] state present() const {
        const monitor_lock lock(guard_);
        return state_;
    }

    [[nodiscard]] latchkey::leadership leadership() const {
        const monitor_lock lock(guard_);
        return leader_term::handle(term_);
    }

    [[nodiscard]] const std::shared_ptr<client_core>& core() const noexcept {
        return acquire_.core();
    }

    [[nodiscard]] const std::string& path() const noexcept { return as_->directory; }

    [[nodiscard]] const std::string& id() const noexcept { return who_->id; }

private:
    /// A term, from the grant until the function has returned.
    struct execution {
        using stop_request = std::stop_callback<std::function<void()>>;

        std::shared_ptr<leader_term> term;
        std::stop_source stop = {};
        // Set while the function runs. Destroyed on the thread where it returned, because that
        // waits for the user's stop callbacks.
        std::optional<stop_request> on_loss = {};
        std::optional<stop_request> on_wish = {};
    };

    /// An exception of the user's. Never destroyed on the loop.
    using thrown = std::shared_ptr<std::exception_ptr>;

    // session_listener
    void client_closed(const failure&) override;

    // On the loop.
    void enter();
    void on_acquired(acquire_call::result a);
    void lead(hold granted);
    void on_returned(const execution& e, bool called, const thrown& threw);
    void fail(const thrown& what);
    void pause();
    void on_close();
    void end();

    // On the executor.
    void execute(const std::shared_ptr<execution>& e);
    void finish(const std::shared_ptr<execution>& e, bool called, const std::exception_ptr& threw);
    void report(const std::exception_ptr& what) noexcept;

    void set(state s);

    [[nodiscard]] bool closing() const {
        const monitor_lock lock(guard_);
        return closing_;
    }

    static constexpr std::chrono::seconds longest_pause{30};

    const acquire_calls acquire_;
    const std::shared_ptr<const queue_recipe> as_;
    const std::shared_ptr<const leader_terms> who_;
    const std::shared_ptr<const work> fn_;
    const std::shared_ptr<const selector_options> how_;
    const runtime::executor executor_;

    // On the loop only.
    bool attached_ = false;
    std::shared_ptr<acquire_call> acquire_call_;  ///< while it is a candidate
    loop::clock::time_point begun_{};             ///< of the candidate, or of the term
    backoff backoff_{std::chrono::milliseconds(100), longest_pause};
    timer pause_;

    mutable thread_mutex guard_;
    thread_condition closed_;
    state state_ LATCHKEY_GUARDED_BY(guard_) = state::idle;
    bool closing_ LATCHKEY_GUARDED_BY(guard_) = false;
    std::shared_ptr<leader_term> term_ LATCHKEY_GUARDED_BY(guard_);
    std::stop_source stop_ LATCHKEY_GUARDED_BY(guard_){std::nostopstate};  ///< of the term
};

}  // namespace latchkey::inline v0

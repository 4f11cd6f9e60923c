#pragma once

#include <latchkey/leader_selector.hpp>

#include "leader/leader_loop.hpp"

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace latchkey::inline v0 {

/// The candidate of a leader_selector. It leads until its function has returned. Only the user's
/// code, the function and `failed`, runs on an executor of its own, one call at a time.
class selector_loop final : public leader_loop {
public:
    using state = selector_status;

    /// Reports that the function of a term has returned, and what it threw. Called once, on any
    /// thread.
    using returned = std::function<void(std::exception_ptr)>;

    /// The function as an asynchronous operation, which lasts until it has called `returned`.
    using work = std::function<void(const latchkey::leadership&, std::stop_token, returned)>;

    selector_loop(std::shared_ptr<client_core> core,
                  std::string path,
                  leader_options who,
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

private:
    /// An exception of the user's. Never destroyed on the loop.
    using thrown = std::shared_ptr<std::exception_ptr>;

    /// How a function ended. It was not called if its term was over before.
    struct ended {
        bool called = false;
        thrown what = nullptr;
    };

    /// A term, from the grant until the function has returned.
    struct execution {
        using stop_request = std::stop_callback<std::function<void()>>;

        std::shared_ptr<leader_term> term;
        std::function<void(ended)> done;
        std::stop_source stop = {};
        // Set while the function runs. Destroyed on the thread where it returned, because that
        // waits for the user's stop callbacks.
        std::optional<stop_request> on_loss = {};
        std::optional<stop_request> on_wish = {};
    };

    // leader_loop
    task<next_step> lead(std::shared_ptr<leader_term> granted) override;

    task<next_step> on_refused(failure why) override {
        const auto what = std::make_exception_ptr(error(why.code, why.detail));
        return fail(core_->callbacks().keep(what));
    }

    void on_end() override;

    void on_place(const queue_position* p) override;

    [[nodiscard]] task<next_step> fail(thrown what);

    // On the executor.
    void execute(const std::shared_ptr<execution>& e);
    void finish(const std::shared_ptr<execution>& e, bool called, const std::exception_ptr& threw);
    void report(const std::exception_ptr& what) noexcept;

    void set(state s) {
        const monitor_lock lock(guard_);
        state_ = s;
    }

    [[nodiscard]] std::shared_ptr<selector_loop> self() {
        return std::static_pointer_cast<selector_loop>(shared_from_this());
    }

    const std::shared_ptr<const work> fn_;
    const std::shared_ptr<const selector_options> how_;
    const runtime::executor executor_;

    mutable thread_mutex guard_;
    thread_condition closed_;
    state state_ LATCHKEY_GUARDED_BY(guard_) = state::idle;
    std::stop_source stop_ LATCHKEY_GUARDED_BY(guard_){std::nostopstate};  ///< of the term
};

}  // namespace latchkey::inline v0

#pragma once

#include <latchkey/hold.hpp>
#include <latchkey/lock_mode.hpp>

#include "client/client_core.hpp"
#include "direct/handoff_rule.hpp"
#include "loop/monitor.hpp"
#include "session/failure.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {

class risk_warning;

/// Of lock_options::max_hold and min_hold.
struct hold_times {
    boottime_clock::time_point ends = boottime_clock::time_point::max();
    boottime_clock::time_point stays_until = boottime_clock::time_point::min();

    bool operator==(const hold_times&) const = default;
};

/// The owner of the znodes of a hold. Called on the loop.
class hold_owner {
public:
    /// Receives whether the hold now has the requested mode, or the error that prevented it.
    using converted = std::function<void(failure why, bool done)>;

    hold_owner() = default;
    hold_owner(const hold_owner&) = delete;
    hold_owner& operator=(const hold_owner&) = delete;
    virtual ~hold_owner() = default;

    /// Receives true if the servers have confirmed that the znodes of a hold are gone, and false if
    /// that will not be known.
    using gone_handler = guaranteed_deletes::gone_handler;

    /// Called once. Deletes the znodes. `last`: how the hold was.
    virtual void release(gone_handler gone, const handing_on& last) = 0;

    /// Whether the znodes stay for another hold, now that this one is released; then release() is
    /// not called. `clean`: they may stay for one that comes later, because the hold was not lost,
    /// and no transaction that was sent under it may be applied later. Any thread.
    [[nodiscard]] virtual bool keeps(bool /*clean*/, boottime_clock::time_point /*now*/) {
        return false;
    }

    /// Another participant of the client holds in its place: it need not stay for min_hold.
    virtual void replaced() {}

    /// Makes sure that the owner is notified when a znode is gone, before any later request is
    /// answered. Returns false if that was not so until now.
    virtual bool watch() = 0;

    /// Changes the mode of the participant, which keeps its place in the queue. Waits for other
    /// participants only if `wait`. One change at a time.
    virtual void convert(lock_mode to, bool wait, converted done) = 0;

    /// Ends a change of mode that waits. The mode stays the same.
    virtual void cancel_conversion() = 0;

    /// Whether the servers have answered the change of mode that is under way.
    [[nodiscard]] virtual bool is_conversion_answered() const noexcept = 0;
};

/// One grant of a znode, or of several together, from its publication to its release. The user's
/// `hold` refers to it.
class hold_state : public std::enable_shared_from_this<hold_state> {
public:
    struct grant {
        std::shared_ptr<const std::vector<std::string>> paths;  ///< one path or more
        latchkey::fencing_token token;
        lock_mode mode;
        std::shared_ptr<hold_owner> owner;
        telemetry::span span = {};
        hold_times times = {};
        /// False: the data of its znodes never changes. A candidate of Curator's LeaderLatch loses
        /// its watch on the candidate ahead when that one's data changes.
        bool writable = true;
        /// Of holds that follow each other in one znode: the next turn. A hold gets its turn when
        /// its token is asked for first, because a znode has only so many. Null: that of `token`.
        std::shared_ptr<std::atomic<std::uint32_t>> next_turn = nullptr;
        /// Of the session in which the grant was proven; null: of the present one.
        std::shared_ptr<const validity> proof = nullptr;
        std::uint64_t generation = 0;
        /// Called on the loop when the hold is lost; no code of the user's delays it.
        std::function<void()> lost = nullptr;
    };

    /// On the loop, in the session in which the grant was proven. With a proof, on any thread.
    hold_state(std::shared_ptr<client_core> core, grant g);

    [[nodiscard]] static hold make_hold(std::shared_ptr<hold_state> state) {
        return hold(std::move(state));
    }

    /// Null for an empty hold.
    [[nodiscard]] static std::shared_ptr<hold_state> of(const hold& h) noexcept {
        return h.state_.get();
    }

    // ---- on the loop ----

    /// Changes the mode of the hold; `path` is that of its znode from now on.
    void turn_into(lock_mode mode, std::string path);

    /// Null after the release.
    [[nodiscard]] const std::shared_ptr<hold_owner>& owner() const noexcept { return owner_; }

    // ---- any thread ----

    [[nodiscard]] bool valid() noexcept;
    [[nodiscard]] boottime_clock::time_point valid_until() const noexcept;

    [[nodiscard]] std::chrono::nanoseconds remaining() noexcept;

    [[nodiscard]] const hold_times& times() const noexcept { return times_; }

    [[nodiscard]] std::stop_token lost() const noexcept { return stop_.get_token(); }

    [[nodiscard]] std::stop_token at_risk(std::chrono::nanoseconds margin);

    [[nodiscard]] loss_reason why_lost() const noexcept;

    [[nodiscard]] std::stop_token revocation_requested() const noexcept {
        return revocation_.get_token();
    }

    [[nodiscard]] latchkey::fencing_token token() const noexcept;

    /// Empty in a forked child.
    [[nodiscard]] std::string path() const;
    [[nodiscard]] std::vector<std::string> paths() const;

    [[nodiscard]] lock_mode mode() const noexcept { return mode_.load(std::memory_order_acquire); }

    [[nodiscard]] bool writable() const noexcept { return writable_; }

    [[nodiscard]] const std::shared_ptr<client_core>& core() const noexcept { return core_; }

    /// The first call decides. `at_risk()` and `lost()` are requested on the stop thread. No effect
    /// after release().
    void lose(loss_reason why) noexcept;

    /// Runs `code` on the callback thread when `at_risk()` and `lost()` were requested and their
    /// stop callbacks have returned. Call it after lose().
    void call_after_loss(std::function<void()> code);

    /// Another participant asks for the hold: `revocation_requested()` is requested on the stop
    /// thread, once.
    void ask_back() noexcept;

    /// Of a handle that refers to it no more: releases it. In a forked child it is never destroyed.
    static void end(std::shared_ptr<hold_state> ended) noexcept;

    /// The first call decides. `gone` is called on the loop. It receives false at once if the
    /// znodes stay, because other holds use them.
    void release(hold_owner::gone_handler gone);

    /// How it is, if it is released at that time.
    [[nodiscard]] handing_on as_released(boottime_clock::time_point now) const noexcept;

    // ---- on the loop ----

    /// Whether a transaction may be sent: the hold is valid, and its session is the present one.
    [[nodiscard]] bool may_transact() noexcept;

    [[nodiscard]] failure hold_is_lost(const char* consequence) const;

private:
    friend class open_transaction;

    [[nodiscard]] telemetry::grant known() const noexcept;
    [[nodiscard]] boottime_clock::time_point deadline() const noexcept;
    [[nodiscard]] std::vector<std::stop_source> stops_of_a_loss() const;

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<const validity> validity_;
    const std::uint64_t generation_;
    mutable latchkey::fencing_token token_;
    mutable std::shared_ptr<std::atomic<std::uint32_t>> next_turn_;  ///< null: `token_` is whole
    std::shared_ptr<hold_owner> owner_;
    const bool writable_;
    telemetry::span span_;
    const hold_times times_;
    std::atomic<bool> over_{false};  ///< told as lost or released
    std::atomic<lock_mode> mode_;
    mutable thread_mutex guard_;
    std::shared_ptr<const std::vector<std::string>> paths_ LATCHKEY_GUARDED_BY(guard_);
    std::vector<std::weak_ptr<risk_warning>> warnings_ LATCHKEY_GUARDED_BY(guard_);
    const std::function<void()> on_lost_;
    std::stop_source stop_;
    std::stop_source revocation_;
    std::atomic<loss_reason> why_{loss_reason::none};
    std::atomic<bool> released_{false};
    std::atomic<std::size_t> open_transactions_{0};
};

/// Whether there is no grant: it was not acquired, moved from or released. A lost hold is not
/// empty.
[[nodiscard]] inline bool is_empty(const hold& h) noexcept {
    return hold_state::of(h) == nullptr;
}

/// A transaction that a hold guards, from the call until nothing of it can be applied any more.
/// Meanwhile the hold's place is not kept. Any thread, one at a time.
class open_transaction {
public:
    explicit open_transaction(std::shared_ptr<hold_state> guard) : guard_(std::move(guard)) {
        guard_->open_transactions_.fetch_add(1);
    }

    open_transaction(const open_transaction&) = delete;
    open_transaction& operator=(const open_transaction&) = delete;

    ~open_transaction() { end(); }

    void end() noexcept {
        if (const auto guard = std::exchange(guard_, nullptr)) {
            guard->open_transactions_.fetch_sub(1);
        }
    }

    /// It will not be known when nothing of it can be applied any more.
    void stays_open() noexcept { guard_.reset(); }

private:
    std::shared_ptr<hold_state> guard_;
};

}  // namespace latchkey::inline v0

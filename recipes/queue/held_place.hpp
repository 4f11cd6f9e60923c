#pragma once

#include <latchkey/hold.hpp>

#include "client/client_core.hpp"
#include "direct/handoff_rule.hpp"
#include "hold/hold_state.hpp"
#include "queue/attempt.hpp"
#include "queue/mode_change.hpp"
#include "queue/own_znode.hpp"
#include "queue/place_turns.hpp"
#include "queue/queue_recipe.hpp"
#include "session/failure.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {

/// The znodes of a participant that holds, from the grant to the release; of the last hold, if
/// there are turns. Kept alive by its holds, and by the core while the session lives. On the loop
/// only.
class held_place final : public session_listener,
                         public place_turns::place,
                         public std::enable_shared_from_this<held_place>,
                         own_znode::owner {
public:
    struct use {
        /// The hold was released and its delete sent, or its place is not shared any more.
        std::function<void()> released = nullptr;
        std::function<void()> lost = nullptr;  ///< once, the hold, whatever loses it
        /// Of other callers of its object, which may hold in the same place; null: only one holds.
        std::shared_ptr<place_turns> turns = nullptr;
        std::function<void()> serve = nullptr;  ///< with turns
    };

    /// In the session that the grant was proven in.
    [[nodiscard]] static hold publish(std::shared_ptr<client_core> core,
                                      std::shared_ptr<const queue_recipe> recipe,
                                      attempt::grant g,
                                      telemetry::span span,
                                      use u);

    held_place(std::shared_ptr<client_core> core,
               std::shared_ptr<const queue_recipe> recipe,
               attempt::grant& g,
               std::function<void()> released);

    // hold_owner
    void release(gone_handler gone, const handing_on& last) override;

    bool keeps(bool clean, loop::clock::time_point now) override {
        return turns_ && turns_->give_back(*this, clean, now);
    }

    void replaced() override { times_.stays_until = {}; }

    bool watch() override;
    void convert(lock_mode to, bool wait, converted done) override;
    void cancel_conversion() override;

    [[nodiscard]] bool is_conversion_answered() const noexcept override {
        return !change_ || change_->is_answered();
    }

    // place_turns::place
    /// It was kept after clean releases only.
    void give_up() override {
        release(nullptr,
                {.exclusive = true,
                 .valid = core_->loop().now() < core_->session_validity()->deadline(),
                 .unanswered = false});
    }

private:
    void hand_on();
    void session_connected() override;
    void session_suspended() override;
    void session_ended(loss_reason why) override;

    void validity_passed() override {
        const auto keep = shared_from_this();
        step_down(loss_reason::deadline_passed);
    }

    void client_closed(const failure& why) override;

    /// What the own znode's watch would have reported, had it been set.
    void znode_missing(const std::string& path) override {
        if (own_znode* const missing = znodes_.find(path)) {
            on_gone(*missing);
        }
    }

    // own_znode::owner
    void on_gone(own_znode& z) override;
    void on_revocation() override;

    void end_turns();

    void let_others_join() {
        if (const auto notify = std::exchange(on_released_, nullptr)) {
            notify();
        }
    }

    void watch_soon();
    void lose(loss_reason why);
    void step_down(loss_reason why);
    void on_max_hold();
    void note_gone(bool confirmed);
    void on_mode_changed(lock_mode to, mode_change::end how);

    void end_conversion(failure why, bool done) {
        if (const auto notify = std::exchange(converted_, nullptr)) {
            notify(std::move(why), done);
        }
    }

    void delete_all();
    void release_if_meanwhile();

    [[nodiscard]] bool is_swapping() const noexcept { return change_ && change_->is_swapping(); }

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<const queue_recipe> recipe_;
    std::function<void()> on_released_;
    std::weak_ptr<hold_state> hold_;      ///< the first, or the last
    std::shared_ptr<place_turns> turns_;  ///< null: there is one hold only. Set before the grant.
    bool takes_turns_ = false;
    /// Of a multi_mutex several. Less one that was deleted; none after the session.
    own_znodes znodes_;
    std::unique_ptr<mode_change> change_;
    converted converted_;              ///< while a conversion is under way
    bool released_meanwhile_ = false;  ///< ... and the hold was released, or before min_hold
    bool given_up_ = false;            ///< its deletes were sent, or there was nothing to delete
    // Whether the servers have confirmed that the znodes are gone: any number may ask.
    std::optional<bool> gone_;
    std::vector<gone_handler> asked_;  ///< before it was known
    timer watch_delay_;
    hold_times times_;
    timer time_;  ///< of max_hold; after the release, of min_hold
};

}  // namespace latchkey::inline v0

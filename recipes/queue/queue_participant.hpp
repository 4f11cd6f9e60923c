#pragma once

#include <latchkey/hold.hpp>
#include <latchkey/participant.hpp>

#include "client/client_core.hpp"
#include "client/failure.hpp"
#include "loop/paced_retry.hpp"
#include "queue/attempt.hpp"
#include "queue/held_place.hpp"
#include "queue/queue_recipe.hpp"

#include <functional>
#include <memory>
#include <string>

namespace latchkey::inline v0 {

/// One participant, until it is granted: joins a queue, waits for its predecessor only, or leaves;
/// or several of them, one in each of several queues, that join together, hold together and leave
/// together. On the loop only.
///
/// One attempt at a time: nothing is granted across a change of session, and after a loss the next
/// attempt joins at the tail. Every znode that was created is deleted once it is not wanted, also
/// after the owner has forgotten the participant.
class queue_participant final : public session_listener,
                                public std::enable_shared_from_this<queue_participant>,
                                attempt::owner {
public:
    struct settings {
        std::shared_ptr<const queue_recipe> as;
        bool directory_known = false;
        bool only_if_first = false;  ///< reads first, and gives up if others are ahead
        std::function<void(queue_position)> reserved;  ///< on the loop
        std::function<void()> released;  ///< the hold was released and its delete sent; on the loop
        std::function<void()> lost = nullptr;  ///< once, the hold that was granted; on the loop
        /// The place that was reserved, if any was, is lost, and another one is looked for.
        std::function<void()> begins = nullptr;
        /// The servers have answered that it is in the queue: of each attempt, once.
        std::function<void()> confirmed = nullptr;
        telemetry::span span = {};
        held_place::turns turns = {};
    };

    /// A hold, or nothing (cancelled, or others are ahead), or a failure.
    struct outcome {
        failure why = {};
        hold granted = {};
    };

    queue_participant(std::shared_ptr<client_core> core,
                      settings s,
                      std::function<void(outcome)> done);

    void start();

    /// Whether it has a place in the queue, as far as is known.
    [[nodiscard]] bool is_confirmed() const noexcept {
        return attempt_ && attempt_->is_confirmed();
    }

    /// Gives up, unless granted already. `done` is called when the znodes are gone, or after a
    /// second at most.
    void cancel();

    /// While it waits: leaves its place for one right behind that of `leader`, a name in the same
    /// directory and ahead of it, if `invitation` holds and the leader is there still; ahead of all
    /// others, in one transaction. `done` receives the path of the new place, empty if there is
    /// none; it is not called if the session ends before.
    void move_behind(const std::string& leader,
                     request invitation,
                     std::function<void(const std::string&)> done);

private:
    void session_connected() override;
    void session_ended(loss_reason why) override;
    void znode_missing(const std::string& path) override;
    void client_closed(const failure& why) override;

    // attempt::owner
    void on_confirmed() override;
    void on_granted(attempt::grant g) override;
    void on_place_lost() override;
    void on_refused(failure why) override;
    void on_reserved(queue_position p) override;

    void note_lost_place();
    void begin_attempt();
    void give_up(failure why);
    void leave();
    void finish(outcome o);

    const std::shared_ptr<client_core> core_;
    settings settings_;
    std::function<void(outcome)> done_;

    std::unique_ptr<attempt> attempt_;  ///< none while it pauses between two, or has left
    bool giving_up_ = false;
    failure why_;  ///< it gives up; none: cancelled
    timer leave_limit_;
    paced_retry retry_;
};

}  // namespace latchkey::inline v0

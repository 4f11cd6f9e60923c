#pragma once

#include <latchkey/participant.hpp>

#include "client/client_core.hpp"
#include "loop/paced_retry.hpp"
#include "queue/attempt.hpp"
#include "queue/queue_recipe.hpp"
#include "session/failure.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace latchkey::inline v0 {

/// One participant, until it is granted or gives up: joins a queue, and waits for its predecessor
/// only. Or several of them, one in each of several queues, that join, hold and end together. On
/// the loop only.
///
/// One attempt at a time: nothing is granted across a change of session, and after a loss the next
/// attempt joins at the tail. Every znode that was created is deleted once it is not wanted, also
/// after the owner has forgotten the participant.
class queue_participant final : public session_listener,
                                public std::enable_shared_from_this<queue_participant> {
public:
    struct settings {
        std::shared_ptr<const queue_recipe> recipe;
        bool directory_known = false;
        bool only_if_first = false;  ///< reads first, and gives up if others are ahead
    };

    /// A grant, which the owner publishes at once; or nothing (canceled, or others are ahead), or a
    /// failure.
    struct outcome {
        failure why = {};
        std::optional<attempt::grant> granted = {};
    };

    /// Called on the loop, and not after on_outcome().
    class owner : public attempt::owner {
    public:
        /// May destroy the participant.
        virtual void on_outcome(outcome o) = 0;

    protected:
        ~owner() = default;
    };

    /// Keeps `o` until its outcome is known.
    queue_participant(std::shared_ptr<client_core> core, settings s, std::shared_ptr<owner> o)
        : core_(std::move(core)),
          settings_(std::move(s)),
          owner_(std::move(o)),
          retry_(core_->loop()) {}

    void start();

    /// Whether it has a place in the queue, as far as is known.
    [[nodiscard]] bool is_confirmed() const noexcept {
        return attempt_ && attempt_->is_confirmed();
    }

    /// Gives the place up, unless it is granted already. The outcome follows when the znodes are
    /// gone, or after a second at most.
    void cancel();

    /// While it waits: exchanges its place for one right behind that of `leader`, a name in the
    /// same directory and ahead of it, if `invitation` holds and the leader is there still; ahead
    /// of all others, in one transaction. `done` receives the path of the new place, empty if there
    /// is none; it is not called if the session ends before.
    void move_behind(const std::string& leader,
                     request invitation,
                     std::function<void(const std::string&)> done) {
        if (attempt_) {
            attempt_->move_behind(leader, std::move(invitation), std::move(done));
        } else {
            done({});
        }
    }

private:
    struct giving_up {
        giving_up(failure w, loop& l) : why(std::move(w)), limit(l) {}

        failure why;  ///< none: canceled
        timer limit;
    };

    void session_connected() override;
    void session_ended(loss_reason why) override;

    void znode_missing(const std::string& path) override {
        if (attempt_) {
            attempt_->znode_missing(path);
        }
    }

    void client_closed(const failure& why) override;

    void on_ended(attempt::end e);
    void drop_attempt();
    void begin_attempt();
    void start_attempt();
    void give_up(failure why);
    void notify(outcome o);
    void finish(outcome o);

    const std::shared_ptr<client_core> core_;
    settings settings_;
    std::shared_ptr<owner> owner_;  ///< null once the outcome is known

    /// None while it pauses between two, waits for its turn to begin one, or has ended.
    std::unique_ptr<attempt> attempt_;
    std::unique_ptr<giving_up> gives_up_;
    paced_retry retry_;
    bool awaits_room_ = false;  ///< to begin an attempt
};

}  // namespace latchkey::inline v0

#pragma once

#include <latchkey/leader_options.hpp>

#include "client/client_core.hpp"
#include "client/session_listener.hpp"
#include "leader/candidate_profile.hpp"
#include "leader/leader_term.hpp"
#include "loop/backoff.hpp"
#include "loop/monitor.hpp"
#include "loop/paced_retry.hpp"
#include "loop/task.hpp"
#include "queue/held_place.hpp"
#include "queue/queue_participant.hpp"
#include "queue/queue_recipe.hpp"
#include "queue/znode_names.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace latchkey::inline v0 {

/// The life of a candidate, from its start to its end: it queues, leads, gives up and queues again.
/// There is one queue_participant after the other, and a term with each grant. What a candidate
/// does in a term, and after a refusal, is its body: leader_candidate or selector_loop.
class leader_loop : public session_listener,
                    public std::enable_shared_from_this<leader_loop>,
                    public queue_participant::owner {
public:
    // ---- any thread ----

    [[nodiscard]] const std::shared_ptr<client_core>& core() const noexcept { return core_; }

    [[nodiscard]] const std::string& path() const noexcept { return recipe_->directory; }

    [[nodiscard]] const candidate_profile& profile() const noexcept { return *profile_; }

    /// The present term; null if there is none.
    [[nodiscard]] std::shared_ptr<leader_term> term() const {
        const monitor_lock lock(guard_);
        return term_;
    }

protected:
    static constexpr std::chrono::seconds longest_pause{30};

    enum class next_step : std::uint8_t {
        queue,  ///< the candidate joins the queue again
        pause,  ///< and before that it waits, longer each time
        idle,   ///< it waits until begin() is called
        end,
    };

    /// Throws errc::invalid_argument for options that a candidate cannot have.
    leader_loop(std::shared_ptr<client_core> core,
                std::string path,
                const queue_markers& markers,
                leader_options options);

    /// Any thread. Returns whether this is the first call.
    bool note_closed() {
        const monitor_lock lock(guard_);
        return !std::exchange(closed_, true);
    }

    [[nodiscard]] bool closed() const {
        const monitor_lock lock(guard_);
        return closed_;
    }

    // ---- on the loop ----

    /// Begins, or goes on if it is idle.
    void begin();

    /// After note_closed(): leaves the queue, or ends the pause. A term ends as every other.
    void stop();

    /// What it does from a grant until the term is over. Calls delete_term_znode() before it ends.
    [[nodiscard]] virtual task<next_step> lead(std::shared_ptr<leader_term> granted) = 0;

    /// The servers have refused the candidate, or the client was closed.
    [[nodiscard]] virtual task<next_step> on_refused(failure why) = 0;

    /// Called once, last.
    virtual void on_end() = 0;

    /// Deletes the znode of the term: another candidate can be elected.
    void delete_term_znode();

    // queue_participant::owner and session_listener
    void on_place(const queue_position* p) override {
        if (p != nullptr) {
            core_->telemetry().queued(span_, p->path, p->position, recipe_->mode);
        }
    }

    void on_confirmed() override {}

    void session_connected() override {
        if (const auto& contacts = recipe_->options().contacts) {
            contacts->publish(core_);
        }
    }

    void client_closed(const failure& why) override;

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<const candidate_profile> profile_;
    const std::shared_ptr<const queue_recipe> recipe_;

    // On the loop only.
    std::shared_ptr<queue_participant> participant_;  ///< until it is granted
    std::function<void(bool)> on_lost_;               ///< called when the term's hold is lost
    loop::clock::time_point begun_{};                 ///< of the participant, or of the term
    backoff pauses_{std::chrono::milliseconds(100), longest_pause};

private:
    void on_outcome(queue_participant::outcome o) final {
        std::exchange(settle_, nullptr)(std::move(o));
    }

    [[nodiscard]] task<bool> live();
    [[nodiscard]] task<queue_participant::outcome> contend();
    [[nodiscard]] std::shared_ptr<leader_term> begin_term(attempt::grant g);

    [[nodiscard]] bool over() const { return closed() || core_->closed_why(); }

    mutable thread_mutex guard_;
    bool closed_ LATCHKEY_GUARDED_BY(guard_) = false;
    std::shared_ptr<leader_term> term_ LATCHKEY_GUARDED_BY(guard_);

    // On the loop only.
    running_task living_;
    telemetry::span span_;                                    ///< of the participant
    std::function<void(queue_participant::outcome)> settle_;  ///< while it contends
    resumption wake_;  ///< while it is idle, pauses, or waits for its release
    timer pause_;
    paced_retry rejoin_pause_;
    bool started_ = false;
    bool wanted_ = false;  ///< not idle
    bool holds_ = false;   ///< from the grant until the delete of the znode was sent
    bool directory_known_ = false;
    bool znode_was_deleted_ = false;  ///< another client deleted the last term's znode
};

}  // namespace latchkey::inline v0

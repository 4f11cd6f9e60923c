#pragma once

#include <latchkey/leader_latch.hpp>

#include "client/client_core.hpp"
#include "leader/candidate_profile.hpp"
#include "leader/transfer/priority_policy.hpp"
#include "loop/loop.hpp"
#include "loop/task.hpp"
#include "queue/queue_recipe.hpp"
#include "znode/persistent_node.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace latchkey::inline v0 {

class leader_candidate;

/// The part of one candidate in transfers and priorities: its mailbox while it is in the queue, and
/// the other mailboxes while it leads. Does nothing for a candidate without a preference. On the
/// loop only.
class leadership_transfer final : public std::enable_shared_from_this<leadership_transfer> {
public:
    using transferred = std::function<void(leader_latch::transfer)>;

    /// `candidate` outlives this object, and does what this decides.
    leadership_transfer(std::shared_ptr<client_core> core,
                        std::shared_ptr<const queue_recipe> recipe,
                        std::shared_ptr<const candidate_profile> profile,
                        leader_candidate& candidate)
        : core_(std::move(core)),
          recipe_(std::move(recipe)),
          profile_(std::move(profile)),
          how_(profile_->preference.value_or(leader_preference())),
          candidate_(candidate),
          cool_(core_->loop()),
          peers_(how_.hysteresis) {}

    /// The candidate is in the queue, with the znode at `path`.
    void queue(const std::string& path);

    /// The candidate leads, with the znode at `path`, until end_term().
    void lead(const std::string& path);
    void end_term();

    /// Whether it has offered the leadership in this term, or the last one: another candidate may
    /// come in right behind the leader.
    [[nodiscard]] bool has_offered() const noexcept { return has_offered_; }

    /// Offers the leadership to a candidate with that id, after earlier transfers. `done` is called
    /// once.
    void transfer(const std::string& id, std::chrono::nanoseconds limit, transferred done);

    /// The candidate is in no queue any more.
    void leave();

    /// Ends all timers, because the last reference may be dropped on another thread than the loop.
    void end() { cool_.cancel(); }

private:
    struct order {
        std::string id;
        std::chrono::nanoseconds limit;
        transferred done;
    };

    // as a candidate
    [[nodiscard]] task<bool> take_part();
    [[nodiscard]] task<bool> has_failed();
    void cool_down(std::chrono::nanoseconds time);
    void open_mailbox();

    void close_mailbox() {
        if (const auto closed = std::exchange(mailbox_, nullptr)) {
            closed->leave();
        }
    }

    [[nodiscard]] int priority() const noexcept {
        return cool_.running() ? lowest_priority : how_.priority;
    }

    // as a leader
    [[nodiscard]] task<bool> watch_peers();
    [[nodiscard]] task<bool> make_offers();
    void end_order(leader_latch::transfer what);

    /// Then the term is over too, even if it does not know that yet.
    [[nodiscard]] bool over() const { return core_->session_id() == 0 || core_->closed_why(); }

    [[nodiscard]] std::chrono::nanoseconds patience() const { return core_->session_timeout() / 6; }

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<const queue_recipe> recipe_;
    const std::shared_ptr<const candidate_profile> profile_;
    const leader_preference how_;
    leader_candidate& candidate_;

    std::string znode_;    ///< the path of the own znode
    std::string invited_;  ///< ... if a leader let it in
    std::shared_ptr<persistent_node> mailbox_;
    std::int64_t last_read_ = 0;  ///< the mzxid of a message; versions are per mailbox
    std::optional<std::pair<server_stat, std::string>> unread_;
    resumption reads_;  ///< while it waits for a message
    timer cool_;        ///< it runs while the candidate cools down
    loop::clock::time_point cool_ends_;
    running_task queueing_;  ///< what it does in this place in the queue

    bool leading_ = false;
    bool has_offered_ = false;
    bool handing_over_ = false;
    priority_policy peers_;
    std::deque<order> orders_;
    resumption reconsider_;  ///< while it waits for a reason to make an offer
    running_task watching_;
    running_task offering_;
};

}  // namespace latchkey::inline v0

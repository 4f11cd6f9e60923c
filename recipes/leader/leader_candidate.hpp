#pragma once

#include <latchkey/leader_latch.hpp>

#include "client/client_core.hpp"
#include "client/retrying_call.hpp"
#include "leader/candidate_config.hpp"
#include "leader/leader_listeners.hpp"
#include "leader/leader_term.hpp"
#include "leader/transfer/leadership_transfer.hpp"
#include "loop/backoff.hpp"
#include "loop/monitor.hpp"
#include "loop/paced_retry.hpp"
#include "queue/queue_participant.hpp"
#include "queue/queue_recipe.hpp"
#include "queue/znode_names.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

class wait_for_term;

/// A candidate, from its start to its end. It queues, leads, gives up and queues again: one
/// queue_participant after the other, and a term with each grant.
class leader_candidate final : public std::enable_shared_from_this<leader_candidate>,
                               public queue_participant::owner,
                               leadership_transfer::owner {
public:
    leader_candidate(std::shared_ptr<client_core> core, candidate_config c);

    // ---- any thread ----

    [[nodiscard]] const std::shared_ptr<client_core>& core() const noexcept { return core_; }

    [[nodiscard]] const std::string& directory() const noexcept { return as_->directory; }

    [[nodiscard]] const leader_terms& who() const noexcept { return *who_; }

    void start();

    /// The present term; null if there is none.
    [[nodiscard]] std::shared_ptr<leader_term> term() const;

    [[nodiscard]] subscription subscribe(leader_latch::listener l);
    void resign();
    void close(leader_latch::closing how);

    /// No failure while it is open.
    [[nodiscard]] failure closed_why() const;

    // ---- on the loop ----

    /// `w` is settled with the next term, the next refusal, or the end.
    void await(const std::shared_ptr<wait_for_term>& w);

    void transfer(const std::string& id,
                  std::chrono::nanoseconds limit,
                  leadership_transfer::transferred done);

private:
    // leadership_transfer::owner
    void move_behind(const std::string& leader,
                     request invitation,
                     std::function<void(const std::string&)> done) override;

    void on_chosen() override { listeners_.tell_chosen(); }

    void hand_over(const std::string& successor) override;

    // queue_participant::owner
    void on_beginning() override;
    void on_reserved(queue_position p) override;
    void on_confirmed() override;
    held_place::notifications notifications() override;

    telemetry::span& span() noexcept override { return span_; }

    void on_outcome(queue_participant::outcome o) override;

    void enter();
    [[nodiscard]] std::function<void()> if_alive(void (leader_candidate::*f)());
    [[nodiscard]] bool is_confirmed() const;
    void lead(hold granted);
    void begin_term(const std::shared_ptr<leader_term>& present);
    void refuse(const failure& why);
    void on_lost();
    void leave();
    void on_released();
    void on_closed();

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<const leader_terms> who_;
    const std::shared_ptr<const queue_recipe> as_;

    mutable thread_mutex guard_;
    bool closed_ LATCHKEY_GUARDED_BY(guard_) = false;
    std::shared_ptr<leader_term> term_ LATCHKEY_GUARDED_BY(guard_);

    // On the loop only.
    leader_listeners listeners_;
    std::vector<std::weak_ptr<wait_for_term>> waiting_;
    std::shared_ptr<queue_participant> participant_;  ///< until it is granted
    telemetry::span span_;                            ///< of that
    std::shared_ptr<leadership_transfer> transfers_;  ///< if it takes part in transfers
    bool started_ = false;
    bool directory_known_ = false;
    bool losing_ = false;             ///< the end of the term is being reported
    bool znode_was_deleted_ = false;  ///< another client deleted the last term's znode
    std::optional<std::stop_callback<std::function<void()>>> on_loss_;  ///< of the present term
    timer refusal_pause_;
    paced_retry rejoin_pause_;
    timer drain_limit_;
    backoff backoff_{std::chrono::milliseconds(100), std::chrono::seconds(30)};
};

/// One call that waits for a term.
class wait_for_term final : public retrying_call<std::shared_ptr<leader_term>> {
public:
    explicit wait_for_term(std::shared_ptr<leader_candidate> c)
        : retrying_call(c->core()), candidate_(std::move(c)) {}

    /// On the loop.
    void settle(failure why, std::shared_ptr<leader_term> term);

    /// On the loop: the candidate is in the queue, or leads.
    void note_confirmed();

private:
    [[nodiscard]] call_aim aim() const override;

    [[nodiscard]] bool is_answered() const override { return confirmed_; }

    void begin() override;

    const std::shared_ptr<leader_candidate> candidate_;
    bool confirmed_ = false;
};

}  // namespace latchkey::inline v0

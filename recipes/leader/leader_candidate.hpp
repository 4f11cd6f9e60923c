#pragma once

#include <latchkey/leader_latch.hpp>

#include "client/user_call.hpp"
#include "leader/leader_listeners.hpp"
#include "leader/leader_loop.hpp"
#include "leader/transfer/leadership_transfer.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {

class wait_for_term;

/// Of a call that waits for a term.
[[nodiscard]] inline bool is_reached(const leadership& l) noexcept {
    return leader_term::of(l) != nullptr;
}

/// The candidate of a leader_latch. It leads until its term is lost or given up, and until its
/// listeners have returned.
class leader_candidate final : public leader_loop {
public:
    leader_candidate(std::shared_ptr<client_core> core, std::string path, leader_options options);

    // ---- any thread ----

    void start();

    [[nodiscard]] subscription subscribe(leader_latch::listener l) {
        return listeners_.add({.calls = std::move(l)});
    }

    void resign() {
        if (const auto present = term()) {
            present->state().lose(loss_reason::resigned);
        }
    }

    void close(leader_latch::closing how);

    /// No failure while it is open.
    [[nodiscard]] failure closed_why() const;

    void transfer(const std::string& id,
                  std::chrono::nanoseconds limit,
                  leadership_transfer::transferred done);

    // ---- on the loop: what leadership_transfer decides ----

    /// Null if the candidate is in no queue, or leads.
    [[nodiscard]] const std::shared_ptr<queue_participant>& participant() const noexcept {
        return participant_;
    }

    /// The candidate is next, right behind a leader that is asked to finish.
    void on_chosen() {
        listeners_.notify([](const listener& l) { call_if_given(l.calls.chosen); }, false);
    }

    /// The leader is asked to finish and then to resign. `successor` is the name of a znode, if it
    /// is known.
    void hand_over(const std::string& successor);

private:
    friend class wait_for_term;

    /// One of the user's, and what was reported to it last.
    struct listener {
        leader_latch::listener calls;
        bool leads = false;
    };

    // leader_loop
    task<next_step> lead(std::shared_ptr<leader_term> granted) override;
    task<next_step> on_refused(failure why) override;
    /// An offer that was made to one place is not valid for the next one.
    void on_place(const queue_position* p) override;
    void on_confirmed() override;

    void client_closed(const failure& why) override {
        const auto keep = shared_from_this();
        settle(why);
        leader_loop::client_closed(why);
    }

    void on_end() override { transfers_->end(); }

    void await(const std::shared_ptr<wait_for_term>& w);
    void settle(const failure& why, const leadership& term = {});

    [[nodiscard]] std::shared_ptr<leader_candidate> self() {
        return std::static_pointer_cast<leader_candidate>(shared_from_this());
    }

    leader_listeners<listener> listeners_;

    // On the loop only.
    std::vector<std::shared_ptr<wait_for_term>> waiting_;
    const std::shared_ptr<leadership_transfer> transfers_;
    timer drain_limit_;
};

/// One call that waits for a term.
class wait_for_term final : public user_call<leadership> {
public:
    explicit wait_for_term(std::shared_ptr<leader_candidate> c)
        : user_call(c->core()), candidate_(std::move(c)) {}

private:
    friend class leader_candidate;

    [[nodiscard]] call_aim aim() const override {
        return {"become the leader of", {candidate_->path()}};
    }

    [[nodiscard]] bool is_confirmed() const override { return confirmed_ && !only_looks(); }

    void begin() override;
    void give_up() override;

    /// The candidate is in the queue, or leads.
    void note_confirmed();

    const std::shared_ptr<leader_candidate> candidate_;
    bool confirmed_ = false;
};

}  // namespace latchkey::inline v0

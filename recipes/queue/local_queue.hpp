#pragma once

#include <latchkey/participant.hpp>

#include "client/user_call.hpp"
#include "hold/hold_state.hpp"
#include "queue/held_place.hpp"
#include "queue/place_turns.hpp"
#include "queue/queue_participant.hpp"

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <utility>

namespace latchkey::inline v0 {

class acquire_call;

/// For user_call<hold>.
[[nodiscard]] inline bool is_reached(const hold& value) noexcept {
    return !is_empty(value);
}

/// The callers that share one recipe object. Where only one can hold, they queue here, first come
/// first served, and one at a time contends in the ensemble, so that an object is one participant.
/// What is handed from caller to caller without the ensemble belongs here too.
///
/// An empty hold means contention, or that the caller has canceled. So a call is confirmed once the
/// servers have answered that its participant is in the queue, or once it waits here behind a
/// caller that is confirmed, or that holds: the hold is valid, or a server can be reached. A call
/// whose time is over before that fails with errc::unreachable, as does one that wants the lock at
/// once and has no answer in time. A confirmed call stays confirmed.
///
/// Three words say how something ends, here and in what this calls. A call is canceled: its caller
/// wants no result. A place in the queue is given up: nothing more is created, and what was created
/// is deleted. A hold is released.
class local_queue final : public session_listener,
                          public std::enable_shared_from_this<local_queue> {
public:
    enum class admits : std::uint8_t {
        one_at_a_time,  ///< the next one contends when the one before has released
        everybody,      ///< each call is a participant
    };

    /// `turns`: where a hold may follow another one in the same place of the queue.
    local_queue(std::shared_ptr<client_core> core,
                admits a,
                std::shared_ptr<place_turns> turns = nullptr)
        : core_(std::move(core)), turns_(std::move(turns)), admits_(a) {}

    /// The next turn of a place that this object holds already, if it can begin at once; else an
    /// empty hold. Any thread; no loop, no servers.
    [[nodiscard]] hold take_turn() { return turns_ ? turns_->take(nullptr) : hold(); }

    /// The object is not used any more: its place is given up unless a caller holds.
    void retire();

    /// A call that is not started yet. Any thread. `reserved` runs as code of the user.
    [[nodiscard]] std::shared_ptr<acquire_call> call(
        std::shared_ptr<const queue_recipe> recipe,
        std::function<void(const queue_position&)> reserved);

    [[nodiscard]] const std::shared_ptr<client_core>& core() const noexcept { return core_; }

private:
    friend class acquire_call;

    // The queue_participant is notified of its session itself. These concern the callers that wait
    // here.
    void session_connected() override { confirm_if_ahead_is(); }

    void client_closed(const failure& why) override;

    void arrive(const std::shared_ptr<acquire_call>& a);
    void contend(const std::shared_ptr<acquire_call>& a);
    [[nodiscard]] bool is_ahead_confirmed() const;
    void confirm_waiting();
    void confirm_if_ahead_is();
    [[nodiscard]] hold publish(const acquire_call& a, attempt::grant g);
    void on_outcome(acquire_call& a, queue_participant::outcome o);
    void advance();
    void cancel(const std::shared_ptr<acquire_call>& a);
    void serve();
    void end_wait_for_turn(acquire_call& a) noexcept;
    [[nodiscard]] std::shared_ptr<acquire_call> take_first();

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<place_turns> turns_;  ///< may be null
    const admits admits_;

    // On the loop only.
    bool directory_known_ = false;
    /// One at a time: from joining until the hold is released.
    bool busy_ = false;
    bool retired_ = false;
    std::weak_ptr<queue_participant> participant_;      ///< the last one, until granted
    std::weak_ptr<hold_state> held_;                    ///< of that, from then on
    std::list<std::shared_ptr<acquire_call>> waiting_;  ///< an empty deque takes half a KiB
    telemetry::time_point served_;                      ///< when a call that waited got a turn
};

/// One call of acquire. A limit of zero means to take the lock only if no participant is ahead.
class acquire_call final : public user_call<hold>, public queue_participant::owner {
public:
    acquire_call(std::shared_ptr<local_queue> queue,
                 std::shared_ptr<const queue_recipe> recipe,
                 std::function<void(const queue_position&)> reserved);

    ~acquire_call() override { queue_->end_wait_for_turn(*this); }

private:
    friend class local_queue;

    // user_call
    [[nodiscard]] call_aim aim() const override { return {"acquire", recipe_->all_paths()}; }

    [[nodiscard]] bool is_confirmed() const override { return confirmed_ && !only_looks(); }

    void begin() override;

    void give_up() override { queue_->cancel(self()); }

    void note_end(const result& r) override;

    // queue_participant::owner
    void on_place(const queue_position* p) override;
    void on_confirmed() override;

    void on_outcome(queue_participant::outcome o) override {
        queue_->on_outcome(*this, std::move(o));
    }

    void begin_span();

    [[nodiscard]] std::shared_ptr<acquire_call> self() {
        return std::static_pointer_cast<acquire_call>(shared_from_this());
    }

    const std::shared_ptr<local_queue> queue_;
    const std::shared_ptr<const queue_recipe> recipe_;
    const std::shared_ptr<const std::function<void(const queue_position&)>> reserved_;
    telemetry::span span_;
    std::shared_ptr<queue_participant> participant_;  ///< until it has a result
    bool waits_for_turn_;                             ///< counts among the callers of the turns
    bool confirmed_ = false;
};

}  // namespace latchkey::inline v0

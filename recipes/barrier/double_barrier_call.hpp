#pragma once

#include "barrier/double_barrier_round.hpp"
#include "client/retrying_call.hpp"
#include "queue/queue_recipe.hpp"
#include "text/path.hpp"
#include "znode/change_watch.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace latchkey::inline v0 {

/// What a double_barrier object knows between its calls. Used on the loop only, unless noted.
struct double_barrier_state {
    enum class state : std::uint8_t { outside, inside, changing };

    double_barrier_state(std::shared_ptr<client_core> c, queue_recipe p, std::uint32_t participants)
        : core(std::move(c)), recipe(std::move(p)), wanted(participants) {}

    const std::shared_ptr<client_core> core;
    const queue_recipe recipe;
    const std::uint32_t wanted;

    std::atomic<state> now = state::outside;  ///< any thread
    std::atomic<std::int64_t> session{0};     ///< of its znode; any thread
    bool abandoned = false;  ///< the object was destroyed, so no call can leave any more
    bool directory_known = false;
    std::int64_t directory = 0;  ///< its czxid; a new directory has versions of its own
    double_barrier_round round;

    std::string own;      ///< the name of its znode
    bool placed = false;  ///< the znode exists, as far as this client knows
    result_code not_placed_why = result_code::ok;
    /// Creates of the znode without an answer that shows whether they were applied.
    std::uint32_t unanswered = 0;

    [[nodiscard]] std::string path_of(std::string_view name) const {
        return join_path(recipe.directory, name);
    }

    [[nodiscard]] bool may_exist() const noexcept { return placed || unanswered > 0; }

    /// Gives up the own place inside. This counts in the directory: see double_barrier_round.
    [[nodiscard]] request leaving() const {
        return request::multi(
            {request::remove(path_of(own)), request::set(recipe.directory, round.note())});
    }

    /// The own znode is gone, or is not wanted any more: it is deleted if it may exist. The name is
    /// not used again, because other participants may have counted it. `leaves`: from inside, and
    /// the others see a loss only if that cannot be sent now.
    void drop_own(bool leaves = false);
};

/// One call of enter() or leave().
class double_barrier_call final : public retrying_call<bool> {
public:
    /// Throws errc::invalid_argument if the object is not where such a call begins, errc::forked.
    double_barrier_call(std::shared_ptr<double_barrier_state> at, bool enters);
    ~double_barrier_call() override;

private:
    /// What a server has refused, if anything.
    struct refusal {
        result_code code = result_code::ok;
        std::string path = {};
    };

    struct view;

    [[nodiscard]] call_aim aim() const override {
        return {enters_ ? "enter the double barrier" : "leave the double barrier",
                {at_->recipe.directory}};
    }

    task<attempted> attempt() override { return enters_ ? enter() : leave(); }

    /// Takes a place, and waits for its round to begin.
    task<attempted> enter();
    task<refusal> look(view& seen, change_watch changes);
    [[nodiscard]] std::optional<request> next_write(view& seen) const;
    task<refusal> wait(view& seen, change_watch& changes);
    void create_own();

    /// Gives up the own place, and waits for the other participants of the round.
    task<attempted> leave();
    [[nodiscard]] result session_over() const;

    /// Does what follows: `no_node` means that the own znode is gone.
    [[nodiscard]] attempted refused(const refusal& by);
    void give_up() override;
    void session_ended(loss_reason) override;
    void note_end(const result& r) override;

    const std::shared_ptr<double_barrier_state> at_;
    const bool enters_;

    /// Whether this participant may begin the round. The last one to arrive does: its first list
    /// shows all others. A participant that has seen too few leaves it to a later one, so that not
    /// all of them try.
    bool opens_ = false;
    bool keeps_ = false;  ///< watches all arrivals and departures, for the others
    directory_creation above_;
    bool withdraws_ = false;  ///< the call to enter is given up
    timer withdrawal_limit_;
    bool in_doubt_ = false;  ///< the delete was sent, and its answer was lost
};

}  // namespace latchkey::inline v0

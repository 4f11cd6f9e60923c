#pragma once

#include "barrier/double_barrier_round.hpp"
#include "client/retrying_call.hpp"

#include <memory>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

/// Leaves a double barrier: gives up the own place, and waits for the other participants of the
/// round.
class double_barrier_leave final : public retrying_call<bool> {
public:
    double_barrier_leave(std::shared_ptr<client_core> core, std::shared_ptr<double_barrier_state> a)
        : retrying_call(std::move(core)), at_(std::move(a)) {}

private:
    [[nodiscard]] call_aim aim() const override;
    task<attempted> attempt() override;
    void session_ended(loss_reason) override;
    void client_closed(const failure& why) override;
    void give_up() override;

    task<attempted> remove_own();
    task<attempted> wait_for_others();
    [[nodiscard]] result judged(const reply& before,
                                const std::vector<std::string>& names,
                                const reply& after);
    void clear_away(std::int32_t version) const;
    [[nodiscard]] attempted refused(result_code code);
    [[nodiscard]] result session_over();

    /// What follows from the result for the state of the barrier object.
    [[nodiscard]] result ended(result r);

    const std::shared_ptr<double_barrier_state> at_;
    bool in_doubt_ = false;  ///< the delete was sent, and its answer was lost
    bool gone_ = false;      ///< the own znode does not exist any more
};

}  // namespace latchkey::inline v0

#pragma once

#include "barrier/double_barrier_round.hpp"
#include "call/retrying_operation.hpp"
#include "znode/znode_watch.hpp"

#include <memory>
#include <string>
#include <vector>

namespace latchkey {

/// Leaves a double barrier: gives up the own place, and waits for the other participants of the
/// round.
class double_barrier_leave final : public retrying_operation, znode_watch::observer {
public:
    double_barrier_leave(std::shared_ptr<client_core> core, std::shared_ptr<double_barrier_state> a)
        : retrying_operation(std::move(core)), at_(std::move(a)) {}

private:
    void session_connected() override;
    void session_ended(loss) override;
    void client_closed(const failure& why) override;
    void give_up() override;

    // znode_watch::observer, for a participant that is still inside
    void on_watch_set(const znode_stat&, const std::string&) override {}

    void on_znode_deleted() override;
    void on_watch_refused(result_code code) override;

    void remove_own();
    void on_removed(const reply& r);
    void look();
    void judge(const reply& before, const std::vector<std::string>& names, const reply& after);
    void clear_away(std::int32_t version) const;
    void refused(result_code code);
    void end(result r);

    const std::shared_ptr<double_barrier_state> at_;
    bool in_doubt_ = false;  ///< the delete was sent, and its answer was lost
    bool gone_ = false;      ///< the own znode does not exist any more
    std::shared_ptr<znode_watch> watch_;
};

}  // namespace latchkey

#pragma once

#include <latchkey/leader_latch.hpp>

#include "caller.hpp"
#include "leader_judge.hpp"
#include "loop/loop.hpp"
#include "stage.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <vector>

namespace latchkey::simulation {

/// One candidate, as a service would be: it listens, waits, acts while it leads, resigns, closes,
/// and is a candidate again; in all the ways that a leader_latch offers, and from inside its
/// callbacks.
class leader_worker final : public caller, public std::enable_shared_from_this<leader_worker> {
public:
    leader_worker(program& of, std::size_t object, std::string name);

    void cancel() override;
    void release() override;

private:
    void go_on() override;
    void petition();
    [[nodiscard]] std::string somebody();
    void become_candidate();
    void listen();
    void listen_besides();
    void wait();
    void waited(call& c, std::error_code ec, const leadership& term, const candidacy& by);
    void elected(candidacy& c, const leadership& term);
    void lost(candidacy& c, const leadership& term, loss_reason why);
    void refused(const candidacy& c, std::error_code why);
    void plan_next();
    void act();
    void hand_over();
    void close(leader_latch::closing how);
    void destroy() override;
    void misbehave();

    leader_judge& judge_;

    std::unique_ptr<leader_latch> latch_;
    std::shared_ptr<candidacy> candidacy_;  ///< of the latch
    std::vector<subscription> listening_;   ///< also to those that are closed, aloud
    std::optional<subscription> besides_;
    std::shared_ptr<call> call_;  ///< while it waits
    std::optional<std::stop_source> stop_;
    int acts_left_ = 0;
    timer cancel_;
};

}  // namespace latchkey::simulation

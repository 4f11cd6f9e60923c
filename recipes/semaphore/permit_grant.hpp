#pragma once

#include "client/client_core.hpp"
#include "client/failure.hpp"
#include "loop/paced_retry.hpp"
#include "queue/last_step.hpp"
#include "semaphore/permit_terms.hpp"
#include "znode/change_watch.hpp"
#include "znode/znode_swap.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

/// Waits, at the head of a semaphore's queue, until enough permits are free, and takes them.
///
/// Only heads take permits, and in the same transaction leave the queue. So the view of a new head
/// holds all that were taken before: one that is out of date can only count too many.
class permit_grant final : public last_step {
public:
    /// `terms` are those of `as`; `prefix`: what the names of this attempt begin with.
    permit_grant(std::shared_ptr<client_core> core,
                 std::shared_ptr<const queue_recipe> as,
                 const permit_terms& terms,
                 const std::string& prefix,
                 std::function<void(failure)> refused);
    ~permit_grant() override;

    /// Asks what is free: sent right behind what tells that we are the first, it costs no round
    /// trip. What was seen ahead counts if it was the first already then. Refuses what can never
    /// fit.
    void look_ahead() override;

    task<end> take(place p) override;

    [[nodiscard]] std::vector<std::string> in_doubt() const override {
        return taking_ ? permits_ : std::vector<std::string>();
    }

private:
    struct seen {
        std::optional<reply> limit = std::nullopt;  ///< if it is stored
        reply taken = {};
    };

    task<seen> look(const change_watch* changes) const;
    [[nodiscard]] task<std::optional<end>> swap(std::string from, seen s);
    [[nodiscard]] std::optional<std::uint32_t> limit(const seen& s) const;
    [[nodiscard]] failure refusal(const seen& s) const;

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<const queue_recipe> as_;
    const permit_terms& terms_;               ///< kept by `as_`
    const std::vector<std::string> permits_;  ///< the paths of the znodes to be
    const std::function<void(failure)> refused_;

    running_task looking_;              ///< ahead of the turn
    std::optional<seen> ahead_;         ///< what that has shown
    std::optional<resumption> looked_;  ///< take() waits for that
    bool taking_ = false;
    paced_retry retry_;
};

}  // namespace latchkey::inline v0

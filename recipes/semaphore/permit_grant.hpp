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
                 owner& o);

    /// Asks what is free, for begin() to use: sent right behind what tells that we are the first,
    /// it costs no round trip; and again behind whatever takes its place. Refuses what can never
    /// fit.
    void look_ahead() override;

    /// What was seen ahead counts if it was the first already then.
    void begin(place p) override;

    void session_connected() override;

    [[nodiscard]] std::vector<std::string> in_doubt() const override {
        return taking_ ? permits_ : std::vector<std::string>();
    }

private:
    struct seen {
        std::optional<reply> limit = std::nullopt;  ///< if it is stored
        reply taken = {};
    };

    struct end {
        enum class kind : std::uint8_t { admitted, full, gone, refused };

        kind what = kind::refused;
        bool found = false;  ///< they were there already
        failure why = {};
    };

    void start(std::optional<seen> ahead);
    void on_end(end e);
    task<seen> look(const change_watch* changes) const;
    task<end> wait_and_take(std::optional<seen> ahead);
    task<std::optional<end>> take(seen s);
    [[nodiscard]] std::optional<std::uint32_t> limit(const seen& s) const;
    [[nodiscard]] std::uint64_t taken(const seen& s) const noexcept;
    [[nodiscard]] failure refusal(const seen& s) const;

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<const queue_recipe> as_;
    const permit_terms& terms_;               ///< kept by `as_`
    const std::vector<std::string> permits_;  ///< the paths of the znodes to be
    owner* const owner_;

    std::string place_;  ///< once it is ours to take permits
    bool wait_ = true;
    std::optional<seen> ahead_;  ///< what was seen ahead of the turn
    bool watching_ = false;      ///< the permits, because there were too few
    bool taking_ = false;
    paced_retry retry_;
    running_task running_;
};

}  // namespace latchkey::inline v0

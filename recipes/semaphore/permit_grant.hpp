#pragma once

#include "client/client_core.hpp"
#include "client/failure.hpp"
#include "loop/paced_retry.hpp"
#include "queue/grant_step.hpp"
#include "semaphore/permit_terms.hpp"
#include "znode/znode_swap.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace latchkey {

/// Waits, at the head of a semaphore's queue, until enough permits are free, and takes them.
///
/// Only heads take permits, and in the same transaction leave the queue. So the view of a new head
/// holds all that were taken before: one that is out of date can only count too many.
class permit_grant final : public grant_step, public std::enable_shared_from_this<permit_grant> {
public:
    /// `terms` are those of `as`; `prefix`: what the names of this attempt begin with.
    permit_grant(std::shared_ptr<client_core> core,
                 std::shared_ptr<const queue_recipe> as,
                 const permit_terms& terms,
                 const std::string& prefix,
                 owner& o);
    ~permit_grant() override;

    /// Asks what is free, for begin() to use: sent right behind what tells that we are the first,
    /// it costs no round trip; and again behind whatever takes its place. Refuses what can never
    /// fit.
    void look_ahead() override;

    /// What was seen ahead counts if it was the first already then.
    void begin(place p) override;

    void session_connected() override;

    [[nodiscard]] std::vector<std::string> in_doubt() const override {
        return exchange_ ? permits_ : std::vector<std::string>();
    }

private:
    void look(bool watch);
    [[nodiscard]] bool looked() const noexcept;
    [[nodiscard]] std::optional<std::uint32_t> limit() const;
    [[nodiscard]] std::uint64_t taken() const noexcept;
    [[nodiscard]] failure refusal() const;
    void on_looked();
    void decide();
    void take();
    void on_taken(znode_swap::result r, failure why);

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<const queue_recipe> as_;
    const permit_terms& terms_;               ///< kept by `as_`
    const std::vector<std::string> permits_;  ///< the paths of the znodes to be
    owner* const owner_;

    std::string place_;  ///< once it is ours to take permits
    bool wait_ = true;
    std::uint64_t step_ = 0;      ///< answers to an earlier look are dropped
    std::optional<reply> limit_;  ///< if it is stored
    std::optional<reply> taken_;
    std::shared_ptr<session::watcher> watcher_;
    std::shared_ptr<znode_swap> exchange_;
    result_code directory_refused_ = result_code::ok;  ///< why it could not be made
    paced_retry retry_;
};

}  // namespace latchkey

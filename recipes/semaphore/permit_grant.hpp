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

/// At the head of a semaphore's queue, waits until enough permits are free and takes them.
///
/// Only the first in the queue takes permits, and it leaves the queue in the same transaction. So a
/// new first participant sees all permits that were taken before. Permits may have been given back
/// since, so an old view can only count too many.
class permit_grant final : public grant_step, public std::enable_shared_from_this<permit_grant> {
public:
    /// `terms` are those of `as`. `prefix` is the prefix of the names of this attempt.
    permit_grant(std::shared_ptr<client_core> core,
                 std::shared_ptr<const queue_recipe> as,
                 const permit_terms& terms,
                 const std::string& prefix,
                 owner& o);
    ~permit_grant() override;

    /// Asks what is free, for begin() to use. Sent right behind the request that may show that this
    /// participant is the first, it costs no round trip; it is sent again behind each later one.
    /// Fails if the request can never fit.
    void look_ahead() override;

    /// An answer to look_ahead() counts if this participant was already the first when it was
    /// asked.
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
    const permit_terms& terms_;               ///< kept alive by `as_`
    const std::vector<std::string> permits_;  ///< the paths of the znodes to create
    owner* const owner_;

    std::string place_;  ///< the own place, once this participant may take permits
    bool wait_ = true;
    std::uint64_t step_ = 0;      ///< answers to an earlier look are dropped
    std::optional<reply> limit_;  ///< if the limit is stored
    std::optional<reply> taken_;
    std::shared_ptr<session::watcher> watcher_;
    std::shared_ptr<znode_swap> exchange_;
    result_code directory_refused_ = result_code::ok;  ///< why the directory could not be created
    paced_retry retry_;
};

}  // namespace latchkey

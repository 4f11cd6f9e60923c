#pragma once

#include <latchkey/leader_options.hpp>

#include "leader/leader_record.hpp"
#include "queue/last_step.hpp"

#include <memory>
#include <optional>
#include <string>

namespace latchkey::inline v0 {

/// What a candidate does when it is the first: it writes the leader's record into the data of the
/// directory. That write is the grant, and its zxid the token.
struct leader_terms final : grant_terms {
    std::string id;
    std::string data;  ///< published with the leadership
    std::optional<leader_preference> preference = std::nullopt;

    /// What the last grant has seen of the record. On the loop only.
    std::shared_ptr<std::optional<record_seen>> seen =
        std::make_shared<std::optional<record_seen>>();

    [[nodiscard]] std::unique_ptr<last_step> make_step(
        std::shared_ptr<client_core> core,
        std::shared_ptr<const queue_recipe> as,
        const std::string& prefix,
        std::function<void(failure)> refused) const override;
};

}  // namespace latchkey::inline v0

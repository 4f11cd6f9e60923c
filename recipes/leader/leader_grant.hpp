#pragma once

#include "client/client_core.hpp"
#include "client/failure.hpp"
#include "leader/leader_record.hpp"
#include "leader/leader_terms.hpp"
#include "loop/task.hpp"
#include "queue/last_step.hpp"
#include "queue/queue_recipe.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace latchkey::inline v0 {

/// Makes the first candidate in the queue the leader.
///
/// The grant is a write of the leader's record that commits only while the own znode exists. Its
/// zxid is the token, and its answer is a proof of validity. No candidate can come ahead of a znode
/// that was the first in a list, so no other candidate can have written since. A candidate that
/// writes later gets a higher zxid. So tokens increase strictly, in whichever order candidates
/// queued.
///
/// Two cases save the round trip of the write:
///
/// - A candidate that was the first when it joined, and finds that there was no write since, may
///   use the czxid of its znode: every earlier token is lower, and every later one will be higher.
/// - A candidate that the last leader named as its successor, in the transaction that ended its
///   term, uses the zxid of that transaction. From that transaction on, no other candidate can be
///   the first.
///
/// The reads that show either case must be answered after the list.
class leader_grant final : public last_step {
public:
    leader_grant(std::shared_ptr<client_core> core,
                 std::shared_ptr<const queue_recipe> as,
                 const leader_terms& who)
        : last_step(true), core_(std::move(core)), as_(std::move(as)), who_(who) {}

    void look_ahead() override;

    task<end> take(place p) override;

private:
    [[nodiscard]] task<reply> read_record();

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<const queue_recipe> as_;
    const leader_terms& who_;  ///< kept alive by `as_`

    std::optional<oneshot<reply>> look_;  ///< at the record, sent behind a list
};

}  // namespace latchkey::inline v0

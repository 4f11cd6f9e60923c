#pragma once

#include <latchkey/leader_options.hpp>

#include "queue/last_step.hpp"
#include "queue/znode_names.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace latchkey::inline v0 {

/// Who a candidate is, and what it does when it is the first: it writes the leader's record into
/// the data of the directory. That write is the grant, and its zxid the token. The grant carries
/// what was seen of the record.
///
/// The write commits only while the own znode exists, and its answer is a proof of validity. No
/// candidate can come ahead of a znode that was the first in a list, so no other candidate can have
/// written since. A candidate that writes later gets a higher zxid. So tokens increase strictly, in
/// whichever order candidates queued.
///
/// Two cases save the round trip of the write:
///
/// - A candidate whose znode has a higher czxid than the token in the record, may use that czxid,
///   unless it was let in behind a leader: every earlier token is lower, and every later one will
///   be higher.
/// - A candidate that the last leader named as its successor, in the transaction that ended its
///   term, uses the next turn of that leader's token. From that transaction on, no other candidate
///   can be the first. With direct messages that leader tells it the same itself.
///
/// The reads that show either case must be answered after the list.
struct candidate_profile final : last_step_maker {
    /// Checks what the user gave for a candidate. Throws errc::invalid_argument.
    candidate_profile(const leader_options& given, const queue_markers& markers);

    std::string id;
    std::string data;  ///< published with the leadership
    std::optional<leader_preference> preference;

    [[nodiscard]] std::unique_ptr<last_step> make_step(
        std::shared_ptr<client_core> core,
        std::shared_ptr<const queue_recipe> recipe,
        std::function<void(failure)> refused) const override;
};

}  // namespace latchkey::inline v0

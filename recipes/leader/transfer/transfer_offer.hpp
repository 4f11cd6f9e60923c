#pragma once

#include <latchkey/leader_latch.hpp>

#include "client/client_core.hpp"
#include "leader/transfer/mailbox.hpp"
#include "loop/task.hpp"
#include "session/failure.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace latchkey::inline v0 {

struct wanted_candidate {
    std::optional<mailbox_name> mailbox = {};  ///< nothing: any
    std::optional<std::string> id = {};        ///< nothing: any
};

/// Looks for a candidate that takes part in transfers, by its mailbox or its id: one without a name
/// if there is none; nothing if the servers refuse to tell. `but` is the name, in the queue at
/// `path`, of the candidate that looks. On the loop only, for one session. `core` outlives the
/// task.
[[nodiscard]] task<std::optional<reachable_candidate>> look_up_candidate(client_core& core,
                                                                         std::string path,
                                                                         std::string but,
                                                                         wanted_candidate wanted);

struct transfer_outcome {
    /// `not_leading`: the leader's znode is gone, and no candidate can follow it. A znode with its
    /// number is of a queue that began again after its directory was deleted.
    leader_latch::transfer what = leader_latch::transfer::not_accepted;
    /// If accepted: the name of the candidate's znode, right behind the leader's.
    std::string successor = {};
    failure why = {};     ///< if it was not accepted: it could not be written
    bool stands = false;  ///< it was not withdrawn for sure: the candidate may still accept it
};

/// Offers the leadership, of the leader with the znode at `own`, to one candidate, and finds out
/// whether it has accepted. On the loop only, for one session.
///
/// The candidate accepts in a transaction that checks the version of its mailbox. So when the time
/// is over, a write of the mailbox ends the offer for good, and the list that follows shows whether
/// that came too late. If the session ends, the offer was not accepted: no candidate is behind a
/// znode that is gone.
[[nodiscard]] task<transfer_outcome> offer_leadership(std::shared_ptr<client_core> core,
                                                      std::string own,
                                                      reachable_candidate to,
                                                      std::chrono::nanoseconds limit);

}  // namespace latchkey::inline v0

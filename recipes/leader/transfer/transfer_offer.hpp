#pragma once

#include "client/client_core.hpp"
#include "client/failure.hpp"
#include "loop/task.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace latchkey::inline v0 {

/// To whom the leadership is offered, and by whom.
struct transfer_offer {
    std::string own;        ///< the path of the leader's znode
    std::string candidate;  ///< that of the candidate's
    std::string mailbox;    ///< that of the candidate's mailbox
};

struct transfer_outcome {
    /// The name of the candidate's znode, right behind the leader's; empty: not accepted.
    std::string successor;
    /// The leader's znode is gone: no candidate can follow it. A znode with its number is of a
    /// queue that began again after its directory was deleted.
    bool gone = false;
    failure why = {};     ///< if it was not accepted: it could not be written
    bool stands = false;  ///< it could not be withdrawn: the candidate may still accept it
};

/// Offers the leadership to one candidate, and finds out whether it has accepted. On the loop only,
/// for one session.
///
/// The candidate accepts in a transaction that checks the version of its mailbox. So when the time
/// is over, a write of the mailbox ends the offer for good, and the list that follows shows whether
/// that came too late. If the session ends, the offer was not accepted: no candidate is behind a
/// znode that is gone.
[[nodiscard]] task<transfer_outcome> offer_leadership(std::shared_ptr<client_core> core,
                                                      transfer_offer offer,
                                                      std::chrono::nanoseconds limit);

}  // namespace latchkey::inline v0

#pragma once

#include "ensemble/server/identity.hpp"
#include "ensemble/server/transaction.hpp"
#include "ensemble/server/tree.hpp"

#include <cstdint>
#include <vector>

namespace latchkey::model {

/// The author of a change.
struct principal {
    std::int64_t session = 0;
    std::vector<identity> identities;
    bool operator_of_servers = false;  ///< no access control list applies
    std::int64_t time = 0;             ///< of the request, in milliseconds since 1970
};

/// Decides a create, remove, set, set_acl, check or multi against the proposals so far, and applies
/// its changes there. The answer is in the transaction, even if it is a refusal.
[[nodiscard]] transaction prepare(tree& proposed,
                                  const request& r,
                                  const principal& who,
                                  std::int64_t zxid);

}  // namespace latchkey::model

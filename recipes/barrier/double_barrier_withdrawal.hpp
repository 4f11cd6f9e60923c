#pragma once

#include "barrier/double_barrier_round.hpp"
#include "client/client_core.hpp"
#include "client/failure.hpp"
#include "loop/task.hpp"

#include <memory>

namespace latchkey::inline v0 {

/// Whether a round has counted the participant's znode.
struct counted {
    bool known = true;
    bool yes = true;
    reply answer = {};  ///< why it is not known
};

/// Whether a round that began with the transaction `begun` has counted the znode that exists now. A
/// participant may have created its znode twice, because an answer was lost. The round may have
/// counted the first one before another client deleted it. One round trip, and none if no answer
/// was lost. On the loop only, for one session.
[[nodiscard]] task<counted> is_counted_on(std::shared_ptr<client_core> core,
                                          std::shared_ptr<const double_barrier_state> at,
                                          std::int64_t begun);

/// What came of one attempt to give up entering a double barrier.
struct withdrawn {
    enum class kind : std::uint8_t {
        left,     ///< its znode is gone, and no round counts on it
        passed,   ///< too late: `round` had begun, and counts on it
        changed,  ///< the directory has changed meanwhile: another attempt may well succeed
        unclear,  ///< the servers did not answer, or may answer differently later
        refused
    };

    kind what = kind::unclear;
    double_barrier_round round = {};
    failure why = {};
};

/// Deletes the participant's own znode, unless a round that counts on it has begun: such a round
/// would have changed the directory's version. Two round trips. On the loop only.
[[nodiscard]] task<withdrawn> withdraw_from_barrier(std::shared_ptr<client_core> core,
                                                    std::shared_ptr<double_barrier_state> at);

/// Whether the same request may be answered differently another time.
[[nodiscard]] bool may_change(result_code code);

/// `multi[check(the directory is at this version), delete(the own znode)]`.
[[nodiscard]] request removal_at(std::int32_t version, const double_barrier_state& at);

}  // namespace latchkey::inline v0

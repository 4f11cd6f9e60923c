#pragma once

#include "client/client_core.hpp"
#include "session/failure.hpp"

#include <string>
#include <vector>

namespace latchkey::inline v0 {

/// What a call is for.
struct call_aim {
    std::string verb;                ///< as it follows "cannot"
    std::vector<std::string> paths;  ///< the call's requests are about these, and what is below
    bool reads = false;              ///< NONODE and the like are its results

    /// `acquire "/a" and the other paths`
    [[nodiscard]] std::string text() const;
};

/// How a timed call ends that did not reach its aim in time, if the servers have not answered it as
/// it needs: only that makes it a result, which the caller may take for contention. If a server has
/// refused something since the call began, the call ends with that. If a server that had accepted
/// the session has sent malformed frames since then, it ends with errc::protocol, and otherwise
/// with errc::unreachable.
[[nodiscard]] failure unreachable_failure(const client_core& core,
                                          const call_aim& aim,
                                          refusal_notes::time_point begun);

/// As above, of a call that the servers may have `confirmed`: they have answered as it needs, and
/// it may have had to wait for others. It ends with what a server has refused last since the call
/// began, or with malformed frames, because then it does not know what is ahead. Otherwise empty:
/// contention.
[[nodiscard]] failure failure_in_time(const client_core& core,
                                      const call_aim& aim,
                                      refusal_notes::time_point begun,
                                      bool confirmed);

}  // namespace latchkey::inline v0

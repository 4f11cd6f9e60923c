#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace latchkey::test {

/// A promise of a session that was not kept:
///
///  A1  each request completes once, never inside submit(), and in the end it does
///  A2  with its own answer
///  A3  definite answers come in the order of the requests
///  A4  an outcome is unknown only when the connection or the session ends, and says which
///  A5  behind a write nothing is older than what was seen
///  A6  a watch that is set tells of the next change, once, and only on its connection
///  A7  events come one at a time, in order, and only while there is a session
///  A8  the session stays the same, with the timeout that was asked for
///  A9  it expires only when the servers say so
///  A10 a server that can be reached is found in time
///  A11 attempts and look-ups that fail are followed by pauses, and the loop does not spin
///  A12 close() ends the session on the servers, in time, and is the last that they hear
///  A13 what the servers would hang up on is refused on this side
///  A14 what is over takes no memory
///  A15 a frame that is wrong ends its connection
struct adapter_violation {
    std::string promise;  ///< "A3"
    std::string text;
};

/// A run of sessions over the C client, on the simulated network, drawn from a seed.
struct adapter_run {
    std::vector<adapter_violation> violations;  ///< the first is the cause
    std::uint64_t trace = 0;                    ///< equal for equal seeds
    std::uint64_t answered = 0;                 ///< requests, with a definite answer
    std::uint64_t lost = 0;                     ///< requests whose outcome is unknown
    std::uint64_t connected = 0;
    std::uint64_t watches = 0;  ///< that told
    std::uint64_t expired = 0;
    std::uint64_t malformed = 0;  ///< frames that were noticed

    /// Counts what happened in another run, too.
    void add(const adapter_run& other) {
        answered += other.answered;
        lost += other.lost;
        connected += other.connected;
        watches += other.watches;
        expired += other.expired;
        malformed += other.malformed;
    }
};

/// `tale`: where to tell all that happens, if anywhere.
[[nodiscard]] adapter_run simulate_adapter(std::uint64_t seed, std::ostream* tale = nullptr);

}  // namespace latchkey::test

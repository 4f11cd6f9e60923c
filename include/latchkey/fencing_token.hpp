#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace latchkey {

/// Tells an earlier holder from a later one, to anybody, at any time.
///
/// Tokens of exclusive holds of one path increase strictly from each holder to the next, for the
/// life of the ensemble's data. Pass the token with every effect outside ZooKeeper; the resource
/// refuses a token lower than the highest it has seen. This is what protects data from a holder
/// that was paused and does not know yet that it lost (M. Kleppmann, "How to do distributed
/// locking", 2016); no lock service can stop such a process.
///
/// `zxid` is the czxid of the participant's znode, not its sequence number: that restarts when an
/// empty directory is removed, and wraps. `turn` counts hand-offs inside one process under the same
/// znode. `zxid` alone never decreases.
struct fencing_token {
    std::int64_t zxid = 0;
    std::uint32_t turn = 0;

    auto operator<=>(const fencing_token&) const = default;

    /// `"4294967329"`, or `"4294967329.2"` after two local hand-offs.
    [[nodiscard]] std::string to_string() const {
        return turn == 0 ? std::to_string(zxid) : std::to_string(zxid) + '.' + std::to_string(turn);
    }
};

}  // namespace latchkey

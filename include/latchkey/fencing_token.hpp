#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace latchkey {

/// A number that tells a later holder from an earlier one, for any program, at any time.
///
/// The tokens of exclusive holds of one path increase strictly from each holder to the next, for
/// the life of the ensemble's data. Send the token with every effect outside ZooKeeper. The
/// resource must refuse a token that is lower than the highest it has seen. This protects the data
/// from a holder that was paused and does not know yet that it lost the lock (M. Kleppmann, "How to
/// do distributed locking", 2016). No lock service can stop such a process.
///
/// The tokens of shared holds and permits only identify the holder.
///
/// `zxid` is the czxid of the participant's znode, or the zxid of a leader's grant. It is not the
/// sequence number, which wraps, and restarts when an empty directory is removed. `zxid` alone
/// never decreases. `turn` counts hand-offs inside one process under the same znode.
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

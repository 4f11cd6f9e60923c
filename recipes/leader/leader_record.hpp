#pragma once

#include <latchkey/fencing_token.hpp>

#include "client/failure.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace latchkey {

/// What a leader's id, and the data that it publishes, may be at most.
inline constexpr std::size_t longest_leader_id = 512;
inline constexpr std::size_t longest_leader_data = 16384;

/// What a record may take: JSON makes up to six bytes of one.
inline constexpr std::size_t longest_leader_record =
    6 * (2 * longest_leader_id + longest_leader_data) + 1024;

/// The data of an election's path: who leads, or led last. It is about the present leader only if
/// its znode is the first in the queue.
struct leader_record {
    enum class state : std::uint8_t {
        leading,  ///< or has died while it led
        clean,    ///< has given the leadership up
    };

    std::string id;
    std::string data;   ///< what the leader publishes
    std::string znode;  ///< the name of its znode in the queue
    /// 0 in the write that makes it the leader, whose zxid it is: the mzxid of what was read.
    std::int64_t token = 0;
    state is = state::leading;
    /// The id of the last one that has led and not given up, as its successors know it; empty: none
    /// that has not led well since.
    std::string unclean = {};
    /// In a clean one: the name of the znode that was let in right behind, and is the first since.
    std::string successor = {};

    bool operator==(const leader_record&) const = default;
};

/// What the next leader's record says of those before it.
[[nodiscard]] std::string unclean_before(const std::optional<leader_record>& last,
                                         std::string_view next_id);

/// JSON in one line, the same for the same record. Bytes that are no UTF-8 are replaced.
[[nodiscard]] std::string write_leader_record(const leader_record& r);

/// Nothing if it is not such a record. Untrusted: bounded, and each field is checked; others are
/// ignored, so that later versions may write more.
[[nodiscard]] std::optional<leader_record> read_leader_record(std::string_view data);

/// The token of the term that a record tells of; `mzxid` is that of the znode it was read from.
[[nodiscard]] inline fencing_token token_of(const leader_record& r, std::int64_t mzxid) noexcept {
    return {r.token != 0 ? r.token : mzxid, 0};
}

/// Whether a record may be written over `data`: nothing, or a record. Everything else belongs to
/// another program, and is left alone.
[[nodiscard]] bool may_become_record(std::string_view data);

/// A failure that says so unless it may; `data` is that of the znode at `path`.
[[nodiscard]] failure refuse_foreign_data(std::string_view path, std::string_view data);

/// What a grant, or a write of the record, has seen of it.
struct record_seen {
    std::int32_t version = 0;  ///< of the data that is there
    bool written = false;      ///< and it tells of this term
    std::string unclean = {};  ///< who has not given up before it
};

}  // namespace latchkey

#pragma once

#include <latchkey/fencing_token.hpp>
#include <latchkey/leader_observer.hpp>

#include "session/failure.hpp"
#include "session/request.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace latchkey::inline v0 {

/// The most bytes of a leader's id, and of the data that it publishes.
inline constexpr std::size_t longest_leader_id = 512;
inline constexpr std::size_t longest_leader_data = 16384;

/// The most bytes of a record: JSON may need six bytes for one.
inline constexpr std::size_t longest_leader_record =
    6 * (2 * longest_leader_id + longest_leader_data) + 1024;

/// The data of an election's path: the present leader, or the last one. It is about the present
/// leader only if its znode is the first in the queue.
struct leader_record {
    enum class state : std::uint8_t {
        leading,  ///< leads, or died while it led
        clean,    ///< gave up the leadership
    };

    std::string id;
    std::string data;   ///< what the leader publishes
    std::string znode;  ///< the name of its znode in the queue
    /// The token. 0 in the write that makes the leader: then it is the zxid of that write, which is
    /// the mzxid of the path.
    std::int64_t token = 0;
    std::uint32_t turn = 0;  ///< ... and its second part
    /// That of the path's data with this record. A copy that somebody puts there later has another.
    std::int32_t version = 0;
    state is = state::leading;
    /// The id of the most recent leader that ended without giving up and has not led since; empty
    /// if there is none.
    std::string unclean = {};
    /// In a clean record: the name of the znode that was let in right behind the leader, and is now
    /// the first. Empty if there is none.
    std::string successor = {};

    bool operator==(const leader_record&) const = default;
};

/// The field `unclean` of the next leader's record, if this one comes before it.
[[nodiscard]] std::string unclean_before(const std::optional<leader_record>& last,
                                         std::string_view next_id);

/// One line of JSON, always the same for the same record. Replaces bytes that are not UTF-8.
[[nodiscard]] std::string write_leader_record(const leader_record& r);

/// Reads a record; nothing if the data is not one. The data is untrusted: it is bounded, and each
/// field is checked. Unknown fields are ignored, so that later versions may write more.
[[nodiscard]] std::optional<leader_record> read_leader_record(std::string_view data);

/// The token of the term in a record. `mzxid` is that of the znode from which it was read.
[[nodiscard]] inline fencing_token token_of(const leader_record& r, std::int64_t mzxid) noexcept {
    return {r.token != 0 ? r.token : mzxid, r.turn};
}

/// The token of the candidate that a clean record names: the next turn, so above the leader's, and
/// below that of whoever makes itself the leader by a write. Nothing if it names none.
[[nodiscard]] std::optional<fencing_token> token_of_successor(const leader_record& r,
                                                              std::string_view candidate);

/// What the leader's znode at `path` and the data of its directory say together. A record of
/// another term is not about this leader.
[[nodiscard]] leader_info leader_from(const std::string& path,
                                      const reply& znode,
                                      const reply& directory);

/// Throws errc::invalid_argument for data that a leader cannot publish.
void check_leader_data(const std::string& data);

/// Whether a record may be written over `data`: if it is empty or a record, or if mutexes on the
/// same path have left it (queue_front). Other data belongs to another program and is left alone.
[[nodiscard]] bool may_become_record(std::string_view data);

/// A failure unless a record may be written over `data`, which is that of the znode at `path`.
[[nodiscard]] failure refuse_foreign_data(std::string_view path, std::string_view data);

/// What a grant or a write has seen of the record.
struct record_seen {
    std::optional<std::int32_t> version = {};  ///< of the data that was seen
    bool written = false;                      ///< whether it is about this term
    std::string unclean = {};                  ///< its field `unclean`
};

}  // namespace latchkey::inline v0

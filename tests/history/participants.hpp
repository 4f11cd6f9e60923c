#pragma once

#include "history.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::history {

/// A znode in a lock's queue, or one that stands for permits, as the transaction log has it.
struct participant {
    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

    std::string znode;
    /// Orders the queue: the number at the end of its name, which begins anew in a new directory.
    std::uint64_t place = 0;
    std::int64_t session = 0;
    std::int64_t born_zxid = 0;
    nanoseconds born{};
    std::int64_t gone_zxid = never;
    std::optional<nanoseconds> gone = {};
    bool expired = false;  ///< it went with its session
    bool robbed = false;   ///< another session deleted it, or an operator
    /// Since when it was the first of its queue, if it ever was: of every queue, if several
    /// were created at once; and what it wants was free, if it wants permits.
    std::optional<nanoseconds> first = {};
    /// Since when only readers were ahead of it.
    std::optional<nanoseconds> first_but_readers = {};
    bool reader = false;
    std::uint32_t permits = 0;  ///< that it stands for
    std::uint32_t taken = 0;    ///< with these, of all of the lock
    std::uint32_t limit = 0;    ///< when it was created
};

/// In the order of their creation.
using queue = std::vector<participant>;

/// By directory: where the participants of the locks that somebody took turns on wait, and the
/// permits.
[[nodiscard]] std::map<std::string, queue> queues_of(const history& h);

[[nodiscard]] inline nanoseconds time_of(const history& h, const transaction& entry) {
    return std::chrono::milliseconds(entry.wall_ms) + nanoseconds(entry.wall_ns) + h.wall_offset;
}

[[nodiscard]] std::string queue_directory(layout l, const std::string& lock);
/// Empty for what has no permits.
[[nodiscard]] std::string permit_directory(layout l, const std::string& lock);

/// Where the candidates of an election hear from each other; empty for what has none.
[[nodiscard]] std::string mailbox_directory(layout l, const std::string& lock);

/// Candidates do not tell of their places: what a worker's sessions created while it had a
/// candidate is that one's.
[[nodiscard]] history with_places(history h, const bounds& b);

[[nodiscard]] inline std::string directory_of(std::string_view znode) {
    return std::string(znode.substr(0, znode.rfind('/')));
}

}  // namespace latchkey::history

#pragma once

#include "history.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace latchkey::history {

/// A znode in a lock's queue, as the transaction log has it.
struct participant {
    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

    std::string znode;
    std::int64_t session = 0;
    std::int64_t born_zxid = 0;
    nanoseconds born{};
    std::int64_t gone_zxid = never;
    std::optional<nanoseconds> gone = {};
    /// Since when it was the first of its queue, if it ever was.
    std::optional<nanoseconds> first = {};
};

/// In the order of their creation.
using queue = std::vector<participant>;

/// The queues of the locks that somebody took turns on, by path.
[[nodiscard]] std::map<std::string, queue> queues_of(const history& h);

}  // namespace latchkey::history

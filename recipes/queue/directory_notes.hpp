#pragma once

#include "loop/loop.hpp"
#include "queue/znode_names.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace latchkey::inline v0 {

/// What the participants of a recipe object have learned of its directory, for all of them. On the
/// loop only.
struct directory_notes {
    /// When the delays of dead holders are over: a delay counts from when the first of them has
    /// seen that the holder is not there any more, so short attempts one after another do not begin
    /// it anew. By the path of the holder's record and its own czxid: several records of one holder
    /// have one czxid, and a directory that is made again may have a record of the same name.
    using delays = std::map<std::pair<std::string, std::int64_t>, loop::clock::time_point>;

    /// The end of this one, which begins now if it was not seen before.
    [[nodiscard]] loop::clock::time_point end_of_delay(loop& l,
                                                       const std::string& record,
                                                       std::int64_t czxid,
                                                       std::chrono::milliseconds delay) {
        if (!ends) {
            ends = std::make_unique<delays>();
        }
        // Long over, or its record was deleted long ago.
        std::erase_if(
            *ends, [now = l.now()](const auto& one) { return now - one.second > longest_delay; });
        return ends->try_emplace({record, czxid}, time_after(l, delay)).first->second;
    }

    std::unique_ptr<delays> ends;  ///< none until one is seen: few are

    /// So many children make a queue long; see queue_front. 0: its waiters list, however long it
    /// is.
    std::size_t long_from = 0;
    /// The data belongs to another program, or may not be written: the object leaves it alone.
    bool data_is_foreign = false;
};

}  // namespace latchkey::inline v0

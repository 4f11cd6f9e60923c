#include "queue/directory_notes.hpp"

#include "queue/znode_names.hpp"

namespace latchkey::inline v0 {

loop::clock::time_point directory_notes::end_of_delay(loop& l,
                                                      const std::string& record,
                                                      std::int64_t czxid,
                                                      std::chrono::milliseconds delay) {
    if (!ends) {
        ends = std::make_unique<delays>();
    }
    // Long over, or its record was deleted long ago.
    std::erase_if(*ends,
                  [now = l.now()](const auto& one) { return now - one.second > longest_delay; });
    return ends->try_emplace({record, czxid}, time_after(l, delay)).first->second;
}

}  // namespace latchkey::inline v0

#pragma once

#include <cstddef>
#include <string_view>

#include <nlohmann/json.hpp>

namespace latchkey::inline v0 {

/// Parses the data of a znode, which any client may have written, on the loop. Returns a discarded
/// value if the data is longer than `longest` bytes or is not JSON. What is nested deeper than
/// `depth` is left out, because nesting costs many times its length. A flat object has a depth of
/// 1.
[[nodiscard]] inline nlohmann::json read_untrusted(std::string_view data,
                                                   std::size_t longest,
                                                   int depth) {
    if (data.size() > longest) {
        return nlohmann::json(nlohmann::json::value_t::discarded);
    }
    return nlohmann::json::parse(
        data,
        [depth](int at, nlohmann::json::parse_event_t, const nlohmann::json&) {
            return at <= depth;
        },
        false);
}

}  // namespace latchkey::inline v0

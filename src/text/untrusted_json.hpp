#pragma once

#include <cstddef>
#include <string_view>

#include <nlohmann/json.hpp>

namespace latchkey::inline v0 {

/// Parses the data of a znode, which any client may have written, on the loop. Returns a discarded
/// value if the data is longer than `longest` bytes or is not JSON. What is nested deeper than
/// `depth` is left out, because nesting costs many times its length. A flat object has a depth of
/// 1.
[[nodiscard]] nlohmann::json read_untrusted(std::string_view data, std::size_t longest, int depth);

}  // namespace latchkey::inline v0

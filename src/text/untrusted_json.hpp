#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace latchkey::inline v0 {

/// Parses the data of a znode, which any client may have written, on the loop. Returns a discarded
/// value if the data is longer than `longest` bytes or is not JSON. What is nested deeper than
/// `depth` is left out, because nesting costs many times its length. A flat object has a depth of
/// 1.
[[nodiscard]] nlohmann::json read_untrusted(std::string_view data, std::size_t longest, int depth);

/// The integer `key` of an object; nothing if it has no such integer, or is no object.
[[nodiscard]] std::optional<std::int64_t> integer_in(const nlohmann::json& object, const char* key);

/// The text `key` of an object, if it has one of at most `longest` bytes.
[[nodiscard]] std::optional<std::string> text_in(const nlohmann::json& object,
                                                 const char* key,
                                                 std::size_t longest);

}  // namespace latchkey::inline v0

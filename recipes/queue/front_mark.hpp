#pragma once

#include <string>
#include <string_view>

namespace latchkey::inline v0 {

/// The data of a directory whose queue the participant `name` was once the first of.
[[nodiscard]] std::string front_mark(std::string_view name);

/// The name in a mark. Empty if the data is not one.
[[nodiscard]] std::string_view named_by_front_mark(std::string_view data) noexcept;

}  // namespace latchkey::inline v0

#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace latchkey::cli {

/// Who made a znode, by its own account and escaped: "build@ci-4 (pid 812, 12 min)", with its id in
/// front if it has one, or the data of another library's. The age is that of the znode.
[[nodiscard]] std::string owner_text(std::string_view data, std::chrono::nanoseconds age);

}  // namespace latchkey::cli

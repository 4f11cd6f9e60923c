#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace latchkey::cli {

/// The data of the znode of `latchkey lock --id ID --data S`: Latchkey's record of this process,
/// which asks for `mode` now, with the members "id" and "data" if they are not empty. Throws
/// usage_error if they do not fit.
[[nodiscard]] std::string owner_record(std::string_view mode,
                                       const std::string& id,
                                       const std::string& data);

/// Who made a znode, by its own account and escaped: "build@ci-4 (pid 812, 12 min)", with its id in
/// front if it has one, or the data of another library's. The age is that of the znode.
[[nodiscard]] std::string owner_text(std::string_view data, std::chrono::nanoseconds age);

}  // namespace latchkey::cli

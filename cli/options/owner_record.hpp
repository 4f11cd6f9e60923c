#pragma once

#include <string>
#include <string_view>

namespace latchkey::cli {

/// The data of the znode of `latchkey lock --id ID --data S`: Latchkey's record of this process,
/// which asks for `mode` now, with the members "id" and "data" if they are not empty. Throws
/// usage_error if they do not fit.
[[nodiscard]] std::string owner_record(std::string_view mode,
                                       const std::string& id,
                                       const std::string& data);

}  // namespace latchkey::cli

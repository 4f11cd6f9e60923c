#pragma once

#include <latchkey/acl.hpp>

#include <string_view>

namespace latchkey::cli {

/// Reads the value of --acl: "creator", "open", or entries "SCHEME:ID:PERMISSIONS" with semicolons
/// between them, whose permissions are letters of "cdrwa" as in ZooKeeper's own command. An ID may
/// contain colons and commas. Throws usage_error.
[[nodiscard]] acl parse_acl(std::string_view text);

}  // namespace latchkey::cli

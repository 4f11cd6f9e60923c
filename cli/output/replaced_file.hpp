#pragma once

#include <string>
#include <string_view>

namespace latchkey::cli {

/// Replaces a file, so that a reader sees the old text or the new one as a whole. Safe in a
/// directory where other users may write: the text goes into a new file beside it, whose name no
/// other user can foretell, and `path` is then replaced, also if it is a link. Returns why it
/// cannot be written; empty: it is.
[[nodiscard]] std::string replace_file(const std::string& path, std::string_view text);

}  // namespace latchkey::cli

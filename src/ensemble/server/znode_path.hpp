#pragma once

#include <string_view>

namespace latchkey::model {

/// Whether the servers accept this path.
[[nodiscard]] bool valid_path(std::string_view path) noexcept;

/// The parent's path; `/` for a top-level znode and for `/` itself.
[[nodiscard]] constexpr std::string_view parent_of(std::string_view path) noexcept {
    const std::size_t slash = path.rfind('/');
    return slash == 0 || slash == std::string_view::npos ? std::string_view("/")
                                                         : path.substr(0, slash);
}

/// The last component of a path.
[[nodiscard]] constexpr std::string_view name_of(std::string_view path) noexcept {
    return path.substr(path.rfind('/') + 1);
}

}  // namespace latchkey::model

#pragma once

#include "text/escape.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace latchkey::inline v0 {

/// Throws errc::invalid_argument unless `path` is an absolute znode path that every ZooKeeper
/// client and this library can use: ZooKeeper's own rules, UTF-8, no "." or ".." component, no
/// control characters or non-characters, at most 1024 bytes, nothing below /zookeeper. The message
/// names the path, escaped, and the remedy.
void check_path(std::string_view path);

/// Why `path` is refused, as a clause ("has an empty component"); empty if it is not.
[[nodiscard]] std::string path_problem(std::string_view path);

/// "/a" and "b" make "/a/b"; "/" and "b" make "/b".
[[nodiscard]] std::string join_path(std::string_view directory, std::string_view name);

/// Of each name in a directory.
[[nodiscard]] std::vector<std::string> paths_in(std::string_view directory,
                                                const std::vector<std::string>& names);

/// All but the last component: "/a" of "/a/b", "/" of "/a".
[[nodiscard]] std::string_view parent_of(std::string_view path) noexcept;

/// The last component.
[[nodiscard]] std::string_view name_of(std::string_view path) noexcept;

/// Whether `path` is `directory` or below it.
[[nodiscard]] bool is_within(std::string_view path, std::string_view directory) noexcept;

/// "/a/b/c" gives "/a", "/a/b", "/a/b/c".
[[nodiscard]] std::vector<std::string> prefixes_of(std::string_view path);

}  // namespace latchkey::inline v0

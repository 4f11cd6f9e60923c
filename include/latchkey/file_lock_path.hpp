#pragma once

#include <latchkey/export.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace latchkey::inline v0 {

/// The directory of the locks of files, unless the caller gives another one.
inline constexpr std::string_view file_locks = "/files";

/// The path of the lock for a file on storage that several hosts share. Use it with a shared_mutex:
/// to read together and write alone.
///
///     latchkey::shared_mutex m(zk, latchkey::file_lock_path("/srv/shared/catalog"));
///     std::shared_lock reading(m);
///
/// A file has one lock, whatever name is used for it. The name is made absolute, "." and ".." are
/// removed, and symbolic links are followed, even if their target does not exist yet. The file need
/// not exist. Its directories should exist: a link that is created in their place later would
/// change the path.
///
/// Names that cannot be resolved to each other have different locks: hard links, and storage that
/// hosts mount at different paths. Agree on a key there, and use key_lock_path().
///
/// Sends no request. Errors: errc::invalid_argument names the file (it has no name, or a directory
/// of its path cannot be read) or the `directory` at fault.
[[nodiscard]] LATCHKEY_EXPORT std::string file_lock_path(const std::filesystem::path& file,
                                                         std::string_view directory = file_locks);

/// The path of the lock for a key. A key is any sequence of bytes, the same on every host. The
/// canonical name of a file is also its key, so a host on which the file has this name may use
/// either function.
///
/// The path is one level below `directory` and shows the key: letters, digits, '.', '_' and '-' as
/// they are, '/' as ':', other bytes as %XX. A key that would take more than about 200 bytes is
/// shown as a checksum and its end. Errors: errc::invalid_argument for an empty key.
[[nodiscard]] LATCHKEY_EXPORT std::string key_lock_path(std::string_view key,
                                                        std::string_view directory = file_locks);

}  // namespace latchkey::inline v0

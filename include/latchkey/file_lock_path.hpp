#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace latchkey {

/// Where the locks of files are, unless another directory is given.
inline constexpr std::string_view file_locks = "/files";

/// The path of the lock that stands for a file on storage that several hosts share: use it with a
/// shared_mutex, to read together and write alone.
///
///     latchkey::shared_mutex m(zk, latchkey::file_lock_path("/srv/shared/catalogue"));
///     std::shared_lock reading(m);
///
/// A file has one lock by whatever name it is reached: the name is made absolute, "." and ".."
/// go, and symbolic links are followed, also one whose target does not exist yet. The file
/// need not exist; its directories should, or they may become links later. Two names that no
/// resolving brings together have two locks: hard links, and storage that hosts mount at
/// different paths. There, agree on a key.
///
/// No server is asked. Errors: errc::invalid_argument names the file (no name, or a directory on
/// the way that cannot be read) or the directory.
[[nodiscard]] std::string file_lock_path(const std::filesystem::path& file,
                                         std::string_view directory = file_locks);

/// The same for a key: any bytes, the same on every host. The canonical name of a file is its key
/// unless another one is agreed on, so that a host on which the file has this name may give either.
///
/// A lock's path is one level below the directory. It shows the key: letters, digits, '.', '_' and
/// '-' as they are, '/' as ':', other bytes as %XX; of a key that is longer than some 200 bytes so
/// written a checksum and its end. Errors: errc::invalid_argument for an empty key.
[[nodiscard]] std::string key_lock_path(std::string_view key,
                                        std::string_view directory = file_locks);

}  // namespace latchkey

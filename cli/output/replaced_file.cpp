#include "output/replaced_file.hpp"

#include "output/audit_log.hpp"
#include "output/file_place.hpp"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace latchkey::cli {

namespace {

/// A directory, device or pipe must not be replaced by a file.
bool is_file_or_none(const file_place& at) {
    struct stat status {};

    return ::fstatat(at.directory(), at.name().c_str(), &status, 0) != 0 || S_ISREG(status.st_mode);
}

std::string name_beside(const std::string& name) {
    std::uint64_t number = 0;
    while (::getrandom(&number, sizeof number, 0) != sizeof number) {
    }
    return fmt::format("{}.{:016x}.tmp", name, number);
}

}  // namespace

std::string replace_file(const std::string& path, std::string_view text) {
    const file_place at(path, file_place::last_link::keep);
    if (!at.problem().empty()) {
        return at.problem();
    }
    if (!is_file_or_none(at)) {
        return "is not a regular file";
    }
    const std::string beside = name_beside(at.name());
    const int file = ::openat(at.directory(),
                              beside.c_str(),
                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                              S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
    if (file < 0) {
        return std::strerror(errno);
    }
    const bool written = write_at_once(file, text);
    const int refused = errno;
    ::close(file);
    if (written &&
        ::renameat(at.directory(), beside.c_str(), at.directory(), at.name().c_str()) == 0) {
        return {};
    }
    const int error_number = written ? errno : refused;
    ::unlinkat(at.directory(), beside.c_str(), 0);
    return std::strerror(error_number);
}

}  // namespace latchkey::cli

#include "output/file_place.hpp"

#include "text/escape.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace latchkey::cli {

namespace {

constexpr int most_links = 40;  // as the kernel has it
constexpr mode_t others_may_write = S_IWGRP | S_IWOTH;

bool is_of_proc(int directory) {
    struct statfs about {};

    return ::fstatfs(directory, &about) == 0 && about.f_type == PROC_SUPER_MAGIC;
}

/// Whether no other user has made the link, and none can put another one in its place.
bool is_safe(int directory, const std::string& link) {
    struct stat folder {};

    struct stat it {};

    if (::fstat(directory, &folder) != 0 ||
        ::fstatat(directory, link.c_str(), &it, AT_SYMLINK_NOFOLLOW) != 0) {
        return false;
    }
    // In a sticky directory each user can add names, also of a link of root (a hard link).
    const bool is_fixed = (folder.st_mode & others_may_write) == 0 ||
                          ((folder.st_mode & S_ISVTX) != 0 && it.st_nlink == 1);
    return is_own(folder.st_uid) && is_own(it.st_uid) && is_fixed;
}

}  // namespace

bool is_own(unsigned owner) noexcept {
    return owner == 0 || owner == ::geteuid();
}

file_place::file_place(const std::string& path, last_link last) {
    if (enter(path.starts_with('/') ? "/" : ".", 0)) {
        walk(path, last);
    }
}

file_place::~file_place() {
    ::close(directory_);
}

void file_place::walk(std::string path, last_link last) {
    while (problem_.empty()) {
        const auto slash = path.find('/');
        const std::string part = path.substr(0, slash);
        const bool is_last = slash == std::string::npos;
        path.erase(0, is_last ? path.size() : slash + 1);
        std::array<char, 1> ignored{};
        const bool is_link =
            !part.empty() && ::readlinkat(directory_, part.c_str(), ignored.data(), 1) >= 0;
        if (is_link && !(is_last && last == last_link::keep)) {
            if (is_of_proc(directory_) && is_last) {
                is_of_kernel_ = true;
            } else if (is_of_proc(directory_) ? enter(part, 0) : follow(part, path)) {
                continue;
            }
        } else if (!is_last) {
            static_cast<void>(part.empty() || enter(part, O_NOFOLLOW));
            continue;
        }
        name_ = part;
        return;
    }
}

/// Puts what the link says before the rest of the path.
bool file_place::follow(const std::string& link, std::string& rest) {
    std::array<char, 4096> text{};
    const auto size = ::readlinkat(directory_, link.c_str(), text.data(), text.size());
    if (++links_ > most_links || size < 0) {
        problem_ = std::strerror(size < 0 ? errno : ELOOP);
        return false;
    }
    if (!is_safe(directory_, link)) {
        problem_ = fmt::format(
            "leads through the symbolic link '{}', which another user has made or can replace",
            escaped(link));
        return false;
    }
    const std::string target(text.data(), static_cast<std::size_t>(size));
    rest = target + (rest.empty() ? "" : "/") + rest;
    return !target.starts_with('/') || enter("/", 0);
}

bool file_place::enter(const std::string& name, int flags) {
    const int next = ::openat(directory_ < 0 ? AT_FDCWD : directory_,
                              name.c_str(),
                              O_PATH | O_DIRECTORY | O_CLOEXEC | flags);
    if (next < 0) {
        problem_ = std::strerror(errno);
        return false;
    }
    ::close(std::exchange(directory_, next));
    return true;
}

int file_place::open(int flags, unsigned mode) const {
    return ::openat(
        directory_, name_.c_str(), flags | O_CLOEXEC | (is_of_kernel_ ? 0 : O_NOFOLLOW), mode);
}

bool file_place::is_shared() const noexcept {
    struct stat folder {};

    return ::fstat(directory_, &folder) != 0 || !is_own(folder.st_uid) ||
           (folder.st_mode & others_may_write) != 0;
}

}  // namespace latchkey::cli

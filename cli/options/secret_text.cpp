#include "options/secret_text.hpp"

#include "output/exit_status.hpp"
#include "output/file_place.hpp"
#include "text/escape.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace latchkey::cli {

namespace {

constexpr std::size_t most_secret_bytes = 4096;

bool is_own_group(gid_t group) {
    std::vector<gid_t> all(static_cast<std::size_t>(std::max(::getgroups(0, nullptr), 0)));
    const int count = ::getgroups(static_cast<int>(all.size()), all.data());
    all.resize(static_cast<std::size_t>(std::max(count, 0)));
    return group == ::getegid() || std::find(all.begin(), all.end(), group) != all.end();
}

/// Whether the only others who can read it are those in a group of this process to which root has
/// given it, as Kubernetes does with the files of a Secret (fsGroup).
bool is_given_by_root(const struct stat& status) {
    return status.st_uid == 0 && (status.st_mode & (S_IWGRP | S_IXGRP | S_IRWXO)) == 0 &&
           is_own_group(status.st_gid) && (::geteuid() != 0 || status.st_gid != 0);
}

/// Why the file is refused; empty if it is not.
std::string access_problem(const file_place& at, int fd, std::string_view content) {
    if (!at.problem().empty()) {
        return at.problem();
    }

    struct stat status {};

    if (fd < 0) {
        return std::strerror(errno);
    }
    if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        return "is not a regular file";
    }
    if (!is_own(status.st_uid)) {
        return "belongs to another user; make it yours (chown)";
    }
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0 && !is_given_by_root(status)) {
        return "is accessible to other users; change its mode (chmod 600), or let root give it to "
               "a "
               "group of this process (mode 0440)";
    }
    if (at.is_linked() && at.is_shared()) {
        return "is a symbolic link into a directory where other users may write; name a file that "
               "they cannot replace";
    }
    if (static_cast<std::size_t>(status.st_size) > most_secret_bytes) {
        return fmt::format("has more than 4096 bytes; give a file of {}", content);
    }
    return {};
}

}  // namespace

secret_text::secret_text() {
    text_.reserve(most_secret_bytes);  // growing would leave copies
}

secret_text::~secret_text() {
    ::explicit_bzero(text_.data(), text_.capacity());
}

void secret_text::read(std::string_view option, const std::string& name, std::string_view content) {
    const file_place at(name, file_place::last_link::follow);
    // Non-blocking: opening a FIFO must not wait for a writer.
    const int file = at.problem().empty() ? at.open(O_RDONLY | O_NONBLOCK) : -1;
    const std::string problem = access_problem(at, file, content);
    if (problem.empty()) {
        text_.resize(most_secret_bytes);
        const auto size = ::read(file, text_.data(), text_.size());
        text_.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    }
    if (file >= 0) {
        ::close(file);
    }
    if (!problem.empty()) {
        throw usage_error(fmt::format("{}: '{}' {}", option, escaped(name), problem));
    }
}

}  // namespace latchkey::cli

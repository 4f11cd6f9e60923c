#include "options/secret_text.hpp"

#include "output/exit_status.hpp"
#include "text/escape.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace latchkey::cli {

namespace {

constexpr std::size_t most_secret_bytes = 4096;

struct secret_descriptor {
    int fd;

    explicit secret_descriptor(const std::string& name)
        // Non-blocking: opening a FIFO must not wait for a writer.
        : fd(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {}

    secret_descriptor(const secret_descriptor&) = delete;
    secret_descriptor& operator=(const secret_descriptor&) = delete;

    ~secret_descriptor() { ::close(fd); }
};

/// Why the file is refused; empty if it is not.
std::string access_problem(int fd, std::string_view content) {
    if (fd < 0) {
        return errno == ELOOP ? "is a symbolic link; name the file itself" : std::strerror(errno);
    }

    struct stat status {};

    if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        return "is not a regular file";
    }
    if (status.st_uid != ::geteuid() && status.st_uid != 0) {
        return "belongs to another user; make it yours (chown)";
    }
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return "is accessible to other users; change its mode (chmod 600)";
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
    const secret_descriptor file(name);
    if (const std::string problem = access_problem(file.fd, content); !problem.empty()) {
        throw usage_error(fmt::format("{}: '{}' {}", option, escaped(name), problem));
    }
    text_.resize(most_secret_bytes);
    const auto size = ::read(file.fd, text_.data(), text_.size());
    text_.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
}

}  // namespace latchkey::cli

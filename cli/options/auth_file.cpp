#include "options/auth_file.hpp"

#include "output/exit_status.hpp"
#include "text/escape.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace latchkey::cli {

namespace {

constexpr std::size_t most_bytes = 4096;
constexpr const char* variable = "LATCHKEY_AUTH";

/// Text that is overwritten in the end.
struct secret_text {
    std::string text;

    secret_text() { text.reserve(most_bytes); }  // growing would leave copies

    secret_text(const secret_text&) = delete;
    secret_text& operator=(const secret_text&) = delete;

    ~secret_text() { ::explicit_bzero(text.data(), text.capacity()); }
};

struct file {
    int fd;

    explicit file(const std::string& name)
        // Non-blocking: opening a FIFO must not wait for a writer.
        : fd(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {}

    file(const file&) = delete;
    file& operator=(const file&) = delete;

    ~file() { ::close(fd); }
};

void check_access(const file& f, const std::string& name) {
    const auto refuse = [&name](std::string_view why) {
        throw usage_error(fmt::format("--auth-file: '{}' {}", escaped(name), why));
    };
    if (f.fd < 0) {
        refuse(errno == ELOOP ? "is a symbolic link; name the file itself" : std::strerror(errno));
    }

    struct stat status {};

    if (::fstat(f.fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        refuse("is not a regular file");
    }
    if (status.st_uid != ::geteuid() && status.st_uid != 0) {
        refuse("belongs to another user; make it yours (chown)");
    }
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        refuse("is accessible to other users; change its mode (chmod 600)");
    }
    if (static_cast<std::size_t>(status.st_size) > most_bytes) {
        refuse("has more than 4096 bytes; give a file of lines \"digest USER:PASSWORD\"");
    }
}

void read_file(const std::string& name, std::string& to) {
    const file f(name);
    check_access(f, name);
    to.resize(most_bytes);
    const auto size = ::read(f.fd, to.data(), to.size());
    to.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
}

std::string_view trimmed(std::string_view line) {
    constexpr std::string_view blank = " \t\r";
    const auto first = line.find_first_not_of(blank);
    if (first == std::string_view::npos) {
        return {};
    }
    return line.substr(first, line.find_last_not_of(blank) - first + 1);
}

credentials parse_line(std::string_view line, std::string_view where, int number) {
    const auto space = line.find_first_of(" \t");
    const auto secret = space == std::string_view::npos ? "" : trimmed(line.substr(space));
    const auto scheme = line.substr(0, space);
    const bool digest_without_colon =
        scheme == "digest" && secret.find(':') == std::string_view::npos;
    if (secret.empty() || digest_without_colon) {
        throw usage_error(
            fmt::format("{}: line {} is not a scheme and its secret; write it as "
                        "\"digest USER:PASSWORD\"",
                        where,
                        number));
    }
    return {std::string(scheme), std::string(secret)};
}

std::vector<credentials> parse_lines(std::string_view text, std::string_view where) {
    std::vector<credentials> found;
    for (int number = 1; !text.empty(); ++number) {
        const auto end = text.find('\n');
        const auto line = trimmed(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (!line.empty() && line.front() != '#') {
            found.push_back(parse_line(line, where, number));
        }
    }
    if (found.empty()) {
        throw usage_error(
            fmt::format("{}: holds no line \"digest USER:PASSWORD\"; add one", where));
    }
    return found;
}

}  // namespace

std::vector<credentials> read_credentials(const program_options& options,
                                          const environment_lookup& environment) {
    secret_text secret;
    if (options.auth_file) {
        read_file(*options.auth_file, secret.text);
        return parse_lines(secret.text, "--auth-file");
    }
    if (const auto line = environment(variable)) {
        secret.text += *line;
        return parse_lines(secret.text, variable);
    }
    return {};
}

void forget_credentials() {
    if (char* value = std::getenv(variable)) {
        ::explicit_bzero(value, std::strlen(value));
        ::unsetenv(variable);
    }
}

}  // namespace latchkey::cli

#include "output/status_output.hpp"

#include "output/exit_status.hpp"
#include "output/json_text.hpp"
#include "output/service_manager.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace latchkey::cli {

namespace {

std::string clock_time(const char* format, tm* (*convert)(const time_t*, tm*)) {
    const auto now = std::chrono::system_clock::now();
    const auto seconds = std::chrono::floor<std::chrono::seconds>(now);
    const auto milliseconds = std::chrono::floor<std::chrono::milliseconds>(now - seconds);
    const time_t t = std::chrono::system_clock::to_time_t(seconds);
    tm parts{};
    convert(&t, &parts);
    char text[32];
    const auto size = std::strftime(text, sizeof text, format, &parts);
    return fmt::format("{}.{:03}", std::string_view(text, size), milliseconds.count());
}

constexpr std::string_view erase_line = "\r\x1b[K";

void write_to_stderr(std::string_view text) {
    static std::atomic<bool> stalled = false;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    const auto waits = [&] { return !stalled && std::chrono::steady_clock::now() < end; };
    // There is no other place to report that stderr cannot be written.
    stalled = !write_to(STDERR_FILENO, text, waits) && errno == ETIMEDOUT;
}

/// How much of a text may be written there at a time, so that it does not block when poll() finds
/// room.
std::size_t most_at_once(int fd) {
    struct stat status {};

    const bool may_be_full = ::fstat(fd, &status) == 0 && !S_ISREG(status.st_mode);
    return may_be_full ? PIPE_BUF : std::string_view::npos;
}

std::size_t columns_of_stderr() {
    winsize size{};
    return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// At most so many characters. Escaped text has few characters of more than one column.
std::string_view cut_to_columns(std::string_view text, std::size_t most) {
    std::size_t end = 0;
    for (std::size_t shown = 0; end < text.size(); ++end) {
        const bool begins = (static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80;
        if (begins && ++shown > most) {
            break;
        }
    }
    return text.substr(0, end);
}

std::string json_line(std::string_view name,
                      const std::string& message,
                      const nlohmann::json& details) {
    nlohmann::ordered_json line{{"time", clock_time("%FT%T", ::gmtime_r) + "Z"}, {"event", name}};
    line["message"] = message;
    for (const auto& [key, value] : details.items()) {
        line[key] = value;
    }
    return ascii_text(line);
}

}  // namespace

void status_output::write_line(std::string line) const {
    line += '\n';
    if (progress_->exchange(false)) {
        line.insert(0, erase_line);
    }
    write_to_stderr(line);
}

void status_output::error(const std::string& message) const {
    tell_service_manager("error", message);
    write_line(json_ ? json_line("error", message, nlohmann::json::object())
                     : "latchkey: " + message);
}

void status_output::notice(const std::string& message) const {
    if (volume_ != volume::quiet) {
        error(message);
    }
}

bool status_output::shows_progress() const {
    const char* const kind = std::getenv("TERM");
    const bool can_erase = kind == nullptr || std::string_view(kind) != "dumb";
    return volume_ == volume::normal && !json_ && can_erase && ::isatty(STDERR_FILENO) == 1;
}

void status_output::progress(const std::string& text, const std::string& end) const {
    progress_->store(true);
    const std::size_t room = columns_of_stderr() - 1;
    const auto shown = cut_to_columns(text, room - std::min(room, end.size()));
    write_to_stderr(fmt::format("{}{}{}", erase_line, shown, cut_to_columns(end, room)));
}

void status_output::end_progress() const {
    if (progress_->exchange(false)) {
        write_to_stderr(erase_line);
    }
}

void status_output::event(std::string_view name, const std::string& text) const {
    event(name, text, nlohmann::json::object());
}

void status_output::event(std::string_view name,
                          const std::string& text,
                          const nlohmann::json& details) const {
    tell_service_manager(name, text);
    if (volume_ == volume::verbose) {
        write_line(json_ ? json_line(name, text, details)
                         : fmt::format("latchkey: {} {}", clock_time("%T", ::localtime_r), text));
    }
}

bool write_to_stdout(std::string_view text, const wait_for_reader& waits) {
    return write_to(STDOUT_FILENO, text, waits);
}

bool write_to(int fd, std::string_view text, const wait_for_reader& waits) {
    const std::size_t most = most_at_once(fd);
    while (!text.empty()) {
        pollfd room{fd, POLLOUT, 0};
        if (::poll(&room, 1, 20) == 0) {
            if (waits && !waits()) {
                errno = ETIMEDOUT;
                return false;
            }
            continue;
        }
        // The command may have made a pipe that it shares non-blocking.
        const auto size = ::write(fd, text.data(), std::min(text.size(), most));
        if (size < 0 && errno != EINTR && errno != EAGAIN) {
            return false;
        }
        text.remove_prefix(size > 0 ? static_cast<std::size_t>(size) : 0);
    }
    return true;
}

void print_result(std::string_view text) {
    std::signal(SIGPIPE, SIG_IGN);
    if (!write_to_stdout(text)) {
        throw command_failure(exit_status::output_failed,
                              fmt::format("cannot write to stdout: {}", std::strerror(errno)));
    }
}

}  // namespace latchkey::cli

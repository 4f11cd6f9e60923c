#include "status_output.hpp"

#include "service_manager.hpp"

#include <cerrno>
#include <chrono>
#include <ctime>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
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

void write_line(std::string line) {
    line += '\n';
    // There is no other place to report that stderr cannot be written.
    static_cast<void>(write_to(STDERR_FILENO, line));
}

std::string json_line(std::string_view name,
                      const std::string& message,
                      const nlohmann::json& details) {
    nlohmann::ordered_json line{{"time", clock_time("%FT%T", ::gmtime_r) + "Z"}, {"event", name}};
    line["message"] = message;
    for (const auto& [key, value] : details.items()) {
        line[key] = value;
    }
    return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

void status_output::error(const std::string& message) const {
    tell_service_manager("error", message);
    write_line(json_ ? json_line("error", message, nlohmann::json::object())
                     : "latchkey: " + message);
}

void status_output::event(std::string_view name, const std::string& text) const {
    event(name, text, nlohmann::json::object());
}

void status_output::event(std::string_view name,
                          const std::string& text,
                          const nlohmann::json& details) const {
    tell_service_manager(name, text);
    if (verbose_) {
        write_line(json_ ? json_line(name, text, details)
                         : fmt::format("latchkey: {} {}", clock_time("%T", ::localtime_r), text));
    }
}

bool write_to_stdout(std::string_view text) {
    return write_to(STDOUT_FILENO, text);
}

bool write_to(int fd, std::string_view text) {
    while (!text.empty()) {
        const auto size = ::write(fd, text.data(), text.size());
        if (size < 0 && errno != EINTR) {
            return false;
        }
        text.remove_prefix(size > 0 ? static_cast<std::size_t>(size) : 0);
    }
    return true;
}

}  // namespace latchkey::cli

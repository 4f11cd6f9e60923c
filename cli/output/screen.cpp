#include "output/screen.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace latchkey::cli {

namespace {

constexpr std::string_view normal = "\x1b[0m";
constexpr std::string_view rest_of_line_empty = "\x1b[K";
constexpr std::string_view rest_of_screen_empty = "\x1b[J";
constexpr std::string_view to_the_top = "\x1b[H";

/// At most so many visible characters.
std::string cut(std::string_view line, std::size_t columns) {
    std::string shown;
    std::size_t visible = 0;
    for (std::size_t i = 0; i < line.size();) {
        if (line[i] == '\x1b') {
            const std::size_t end = std::min(line.find('m', i), line.size() - 1);
            shown += line.substr(i, end + 1 - i);
            i = end + 1;
            continue;
        }
        const bool begins_character = (static_cast<unsigned char>(line[i]) & 0xC0U) != 0x80;
        if (begins_character && visible++ == columns) {
            return shown + std::string(normal);
        }
        shown += line[i++];
    }
    return shown;
}

}  // namespace

screen_size screen_size_of_stdout() {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) {
        return {};
    }
    return {.rows = size.ws_row, .columns = size.ws_col};
}

std::string drawn(std::string_view text, screen_size size) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    // The cursor stays in the last row.
    const std::size_t room = std::max<std::size_t>(size.rows, 3) - 1;
    const bool fits = lines.size() <= room;
    const std::size_t shown = fits ? lines.size() : room - 1;
    std::string screen(to_the_top);
    for (std::size_t i = 0; i < shown; ++i) {
        screen += cut(lines[i], size.columns);
        screen += rest_of_line_empty;
        screen += '\n';
    }
    if (!fits) {
        screen += cut(fmt::format("... and {} more lines", lines.size() - shown), size.columns);
        screen += rest_of_line_empty;
        screen += '\n';
    }
    return screen + std::string(rest_of_screen_empty);
}

}  // namespace latchkey::cli

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

/// What the fuzz targets share: bytes that were made up, and claims that must hold for all of them.
namespace latchkey::fuzz {

/// Ends the program, and so makes an input a finding, unless `held`.
inline void require(bool held, const char* claim) {
    if (!held) {
        std::fprintf(stderr, "does not hold: %s\n", claim);
        std::abort();
    }
}

/// What a fuzz target is: it checks what must hold for these bytes.
void check_input(std::string_view bytes);

/// What stands between `separator`s: one more than there are of them.
[[nodiscard]] inline std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    for (std::size_t end = text.find(separator); end != std::string_view::npos;
         end = text.find(separator)) {
        parts.emplace_back(text.substr(0, end));
        text.remove_prefix(end + 1);
    }
    parts.emplace_back(text);
    return parts;
}

/// Takes numbers off the front of the bytes; zero when there are none left.
class numbers {
public:
    explicit numbers(std::string_view bytes) : rest_(bytes) {}

    [[nodiscard]] std::size_t below(std::size_t bound) {
        std::size_t value = 0;
        for (int i = 0; i < 2 && !rest_.empty(); ++i) {
            value = value << 8U | static_cast<std::uint8_t>(rest_.front());
            rest_.remove_prefix(1);
        }
        return bound == 0 ? 0 : value % bound;
    }

    [[nodiscard]] std::string_view text(std::size_t longest) {
        const std::size_t length = below(longest + 1);
        const std::string_view taken = rest_.substr(0, length);
        rest_.remove_prefix(taken.size());
        return taken;
    }

    [[nodiscard]] bool empty() const { return rest_.empty(); }

private:
    std::string_view rest_;
};

}  // namespace latchkey::fuzz

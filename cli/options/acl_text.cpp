#include "options/acl_text.hpp"

#include "output/exit_status.hpp"
#include "text/escape.hpp"
#include "text/white_space.hpp"

#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace latchkey::cli {

namespace {

constexpr std::string_view letters = "rwcda";  // bit 0 first

acl_entry parse_entry(std::string_view text) {
    const auto first = text.find(':');
    const auto last = text.rfind(':');
    std::int32_t bits = 0;
    bool valid = first != std::string_view::npos && first > 0 && last > first;
    for (const char c : valid ? text.substr(last + 1) : std::string_view()) {
        const auto bit = letters.find(c);
        valid = valid && bit != std::string_view::npos;
        bits |= valid ? 1 << bit : 0;
    }
    if (!valid || bits == 0) {
        throw usage_error(
            fmt::format("--acl: '{}' is not an entry; write SCHEME:ID:PERMISSIONS, for example "
                        "'digest:ops:HASH:cdrwa' or 'world:anyone:r', or give creator or open",
                        escaped(text)));
    }
    return {std::string(text.substr(0, first)),
            std::string(text.substr(first + 1, last - first - 1)),
            static_cast<permission>(bits)};
}

}  // namespace

acl parse_acl(std::string_view text) {
    if (text == "creator") {
        return creator_only_acl();
    }
    if (text == "open") {
        return open_unsafe_acl();
    }
    acl all;
    while (true) {
        const auto end = text.find(';');
        all.push_back(parse_entry(trimmed(text.substr(0, end))));
        if (end == std::string_view::npos) {
            return all;
        }
        text.remove_prefix(end + 1);
    }
}

}  // namespace latchkey::cli

#include "ensemble/server/znode_path.hpp"

#include <cstddef>
#include <cstdint>

namespace latchkey::model {
namespace {

bool valid_shape(std::string_view path) noexcept {
    if (path.empty() || path.front() != '/') {
        return false;
    }
    if (path == "/") {
        return true;
    }
    for (std::size_t begin = 1;;) {
        const std::size_t end = path.find('/', begin);
        const std::string_view name = path.substr(begin, end - begin);
        if (name.empty() || name == "." || name == "..") {
            return false;
        }
        if (end == std::string_view::npos) {
            return true;
        }
        begin = end + 1;
    }
}

constexpr std::uint32_t malformed = 0xfffd;

// Removes one character from the front. Real servers decode malformed UTF-8 to U+FFFD, which they
// then refuse.
std::uint32_t next_character(std::string_view& text) noexcept {
    const auto at = [&](std::size_t i) -> std::uint32_t {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const std::uint32_t lead = at(0);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    std::uint32_t c = length == 1 ? lead : lead & (0x7fU >> length);
    bool well_formed = lead < 0x80 || (lead >= 0xc2 && lead < 0xf5);
    for (std::size_t i = 1; i < length; ++i) {
        well_formed = well_formed && (at(i) & 0xc0U) == 0x80;
        c = (c << 6U) | (at(i) & 0x3fU);
    }
    text.remove_prefix(length < text.size() ? length : text.size());
    return well_formed ? c : malformed;
}

}  // namespace

bool valid_path(std::string_view path) noexcept {
    if (!valid_shape(path)) {
        return false;
    }
    while (!path.empty()) {
        const std::uint32_t c = next_character(path);
        if (c <= 0x1f || (c >= 0x7f && c <= 0x9f) || (c >= 0xd800 && c <= 0xf8ff) ||
            c >= 0xfff0) {  // in UTF-16, everything beyond needs surrogates
            return false;
        }
    }
    return true;
}

}  // namespace latchkey::model

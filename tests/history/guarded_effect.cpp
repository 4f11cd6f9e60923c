#include "guarded_effect.hpp"

#include <charconv>
#include <system_error>

namespace latchkey::history {

std::string guarded_effect::data() const {
    return std::to_string(token) + ' ' + std::to_string(number);
}

std::optional<guarded_effect> guarded_effect::read(std::string_view data) {
    guarded_effect e;
    const char* const end = data.data() + data.size();
    const auto [space, bad] = std::from_chars(data.data(), end, e.token);
    if (bad != std::errc() || space == end || *space != ' ') {
        return std::nullopt;
    }
    const auto [last, worse] = std::from_chars(space + 1, end, e.number);
    return worse == std::errc() && last == end ? std::optional(e) : std::nullopt;
}

}  // namespace latchkey::history

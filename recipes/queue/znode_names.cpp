#include "queue/znode_names.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace latchkey::inline v0 {
namespace {

bool all_digits(std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

queue_place place_of(std::string_view name, const queue_markers& markers) noexcept {
    using enum queue_place::standing;
    constexpr auto none = std::string_view::npos;
    std::size_t exclusive = name.rfind(markers.exclusive);
    std::size_t after = exclusive + markers.exclusive.size();
    if (exclusive == none && !markers.others.empty()) {
        exclusive = name.rfind(markers.others);
        after = exclusive + markers.others.size();
    }
    const std::size_t shared = markers.shared.empty() ? none : name.rfind(markers.shared);
    if (exclusive == none && shared == none) {
        return {};
    }
    const bool is_shared = exclusive == none || (shared != none && shared > exclusive);
    std::string_view number =
        is_shared ? name.substr(shared + markers.shared.size()) : name.substr(after);
    if (number.starts_with('-') && all_digits(number.substr(1))) {
        return {exhausted, 0, is_shared};
    }
    if (!all_digits(number)) {
        return {};
    }
    std::uint64_t sequence = 0;
    const auto [end, failed] =
        std::from_chars(number.data(), number.data() + number.size(), sequence);
    if (number.size() != sequence_digits || failed != std::errc{}) {
        return {malformed, 0, is_shared};
    }
    if (sequence > last_sequence) {
        return {exhausted, 0, is_shared};
    }
    return {participant, static_cast<std::uint32_t>(sequence), is_shared};
}

}  // namespace latchkey::inline v0

#include "queue/znode_names.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace latchkey::inline v0 {
namespace {

constexpr std::size_t guid_size = 36;
constexpr char first_of_delay = '8';
constexpr std::size_t delay_digits = 7;
constexpr std::size_t number_size = 1 + delay_digits + sequence_digits;

constexpr std::string_view mark_prefix = "latchkey-first ";
constexpr std::size_t longest_mark = 256;

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
    const bool delays =
        markers.delays && name.substr(0, is_shared ? shared : exclusive).ends_with(delay_mark);
    return {participant, static_cast<std::uint32_t>(sequence), is_shared, delays};
}

// ---- lock delays ----

std::string name_of_delay(std::chrono::milliseconds delay, std::string_view holder) {
    std::string text = std::to_string(delay.count());
    text.insert(0, delay_digits - text.size(), '0');
    const std::string guid(holder.substr(holder.rfind(protection) + protection.size(), guid_size));
    const std::string number(holder.substr(holder.size() - sequence_digits));
    return std::string(delay_mark) + guid + '-' + first_of_delay + text + number;
}

std::optional<delay_record> delay_record_of(std::string_view name) noexcept {
    if (name.size() != delay_mark.size() + guid_size + 1 + number_size ||
        !name.starts_with(delay_mark)) {
        return std::nullopt;
    }
    const std::string_view digits = name.substr(name.size() - number_size);
    if (name[name.size() - number_size - 1] != '-' || digits.front() != first_of_delay ||
        !all_digits(digits)) {
        return std::nullopt;
    }
    const auto number = [](std::string_view text) {
        std::uint64_t value = 0;
        std::from_chars(text.data(), text.data() + text.size(), value);
        return value;
    };
    const std::chrono::milliseconds delay(number(digits.substr(1, delay_digits)));
    const std::uint64_t holder = number(digits.substr(1 + delay_digits));
    if (holder > last_sequence) {
        return std::nullopt;
    }
    return delay_record{std::min(delay, longest_delay), static_cast<std::uint32_t>(holder)};
}

// ---- the front of a queue ----

std::string front_mark(std::string_view name) {
    return std::string(mark_prefix) + std::string(name);
}

std::string_view named_by_front_mark(std::string_view data) noexcept {
    const bool is_mark = data.size() <= longest_mark && data.starts_with(mark_prefix) &&
                         place_of(data, lock_names).what == queue_place::standing::participant;
    return is_mark ? data.substr(mark_prefix.size()) : std::string_view();
}

}  // namespace latchkey::inline v0

#include "queue.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace latchkey {
namespace {

constexpr std::size_t digits = 10;

bool all_digits(std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<std::string> sorted(std::vector<std::pair<std::uint32_t, std::string>> found) {
    std::sort(found.begin(), found.end());
    std::vector<std::string> names;
    names.reserve(found.size());
    for (auto& [sequence, name] : found) {
        names.push_back(std::move(name));
    }
    return names;
}

}  // namespace

queue_place place_of(std::string_view name, std::string_view marker) noexcept {
    using enum queue_place::standing;
    const std::size_t at = name.rfind(marker);
    if (at == std::string_view::npos) {
        return {foreign, 0};
    }
    std::string_view number = name.substr(at + marker.size());
    if (number.starts_with('-') && all_digits(number.substr(1))) {
        return {exhausted, 0};
    }
    if (!all_digits(number)) {
        return {foreign, 0};
    }
    std::uint64_t sequence = 0;
    const auto [end, failed] =
        std::from_chars(number.data(), number.data() + number.size(), sequence);
    if (number.size() != digits || failed != std::errc{}) {
        return {malformed, 0};
    }
    if (sequence > last_sequence) {
        return {exhausted, 0};
    }
    return {participant, static_cast<std::uint32_t>(sequence)};
}

queue_verdict decide(const std::vector<std::string>& names,
                     std::string_view own,
                     std::string_view marker,
                     std::string_view ignored) {
    using enum queue_verdict::answer;
    const queue_place self = own.empty()
                                 ? queue_place{queue_place::standing::participant, UINT32_MAX}
                                 : place_of(own, marker);
    if (self.what != queue_place::standing::participant) {
        return {exhausted, std::string(own), 0};
    }
    queue_verdict verdict{acquired, {}, 0};
    bool present = own.empty();
    std::string_view own_twin;
    bool twins = false;
    std::uint32_t nearest = 0;
    for (const std::string& name : names) {
        if (name == own) {
            present = true;
            continue;
        }
        if (!ignored.empty() && name.starts_with(ignored)) {
            continue;
        }
        const queue_place other = place_of(name, marker);
        if (other.what == queue_place::standing::foreign) {
            continue;
        }
        if (other.what == queue_place::standing::malformed) {
            return {malformed, name, 0};
        }
        if (other.what == queue_place::standing::exhausted) {
            return {exhausted, name, 0};
        }
        // Two participants of a kind with one number: the sequence has ended and started to repeat
        // itself, unless it is another directory than the own znode was in. Twins further ahead
        // concern those who wait for one of them.
        if (other.sequence == self.sequence) {
            own_twin = name;
        }
        if (other.sequence >= self.sequence) {
            continue;
        }
        if (verdict.ahead++ == 0 || other.sequence > nearest) {
            nearest = other.sequence;
            verdict.blocker = name;
            twins = false;
        } else if (other.sequence == nearest) {
            twins = true;
        }
    }
    if (!present) {
        return {gone, {}, 0};
    }
    if (!own_twin.empty()) {
        return {exhausted, std::string(own_twin), 0};
    }
    if (verdict.ahead > 0) {
        verdict.what = twins ? exhausted : wait;
    }
    return verdict;
}

std::vector<std::string> in_order(const std::vector<std::string>& names, std::string_view marker) {
    return with_prefix(names, {}, marker);
}

std::vector<std::string> with_prefix(const std::vector<std::string>& names,
                                     std::string_view prefix,
                                     std::string_view marker) {
    std::vector<std::pair<std::uint32_t, std::string>> found;
    for (const std::string& name : names) {
        const queue_place p = place_of(name, marker);
        const bool counts = p.what == queue_place::standing::participant ||
                            (!prefix.empty() && p.what != queue_place::standing::foreign);
        if (counts && name.starts_with(prefix)) {
            // A number that cannot be trusted is a late one.
            found.emplace_back(
                p.what == queue_place::standing::participant ? p.sequence : UINT32_MAX, name);
        }
    }
    return sorted(std::move(found));
}

}  // namespace latchkey

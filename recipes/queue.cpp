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
    if (number.size() != digits || failed != std::errc{}) {
        return {malformed, 0, is_shared};
    }
    if (sequence > last_sequence) {
        return {exhausted, 0, is_shared};
    }
    return {participant, static_cast<std::uint32_t>(sequence), is_shared};
}

queue_verdict decide(const std::vector<std::string>& names,
                     std::string_view own,
                     const queue_markers& markers,
                     queue_rule rule,
                     std::string_view ignored) {
    using enum queue_verdict::answer;
    const queue_place self = own.empty()
                                 ? queue_place{queue_place::standing::participant, UINT32_MAX}
                                 : place_of(own, markers);
    if (self.what != queue_place::standing::participant) {
        return {exhausted, std::string(own)};
    }
    queue_verdict verdict{acquired, {}};
    bool present = own.empty();
    std::string_view own_twin;
    std::size_t twins = 0;  // of the nearest
    queue_place nearest;
    for (const std::string& name : names) {
        if (name == own) {
            present = true;
            continue;
        }
        if (!ignored.empty() && name.starts_with(ignored)) {
            continue;
        }
        const queue_place other = place_of(name, markers);
        if (other.what == queue_place::standing::foreign) {
            continue;
        }
        if (other.what == queue_place::standing::malformed) {
            return {malformed, name};
        }
        if (other.what == queue_place::standing::exhausted) {
            return {exhausted, name};
        }
        // Two participants of a kind with one number: the sequence has ended and started to repeat
        // itself, unless it is another directory than the own znode was in. Twins further ahead
        // concern those who wait for one of them.
        const bool twin = other.sequence == self.sequence && other.shared == self.shared;
        const bool let_in = twin && rule == queue_rule::behind_twin;
        if (twin && !let_in) {
            own_twin = name;
        }
        if ((other.sequence >= self.sequence && !let_in) ||
            (other.shared && rule == queue_rule::exclusive_only)) {
            continue;
        }
        const bool tie = verdict.ahead > 0 && other.sequence == nearest.sequence;
        if (tie && other.shared == nearest.shared) {
            ++twins;
        } else if (verdict.ahead == 0 || other.sequence > nearest.sequence ||
                   (tie && other.shared)) {  // of a downgrade the reader stays
            nearest = other;
            verdict.blocker = name;
            twins = tie ? twins : 0;
        }
        ++verdict.ahead;
    }
    if (!present) {
        return {gone, {}};
    }
    if (!own_twin.empty()) {
        return {exhausted, std::string(own_twin)};
    }
    if (verdict.ahead > 0) {
        verdict.what = twins > (markers.transferable ? 1 : 0) ? exhausted : wait;
        const bool may_be_replaced =
            markers.transferable ||
            (rule == queue_rule::everybody && !nearest.shared && !markers.shared.empty());
        verdict.grants_when_gone = verdict.ahead == 1 && !may_be_replaced;
    }
    return verdict;
}

bool is_last(const std::vector<std::string>& names,
             std::string_view own,
             const queue_markers& markers) noexcept {
    const std::uint32_t self = place_of(own, markers).sequence;
    return std::none_of(names.begin(), names.end(), [&](const std::string& name) {
        const queue_place other = place_of(name, markers);
        return name != own && other.what != queue_place::standing::foreign &&
               (other.what != queue_place::standing::participant || other.sequence >= self);
    });
}

std::vector<std::string> in_order(const std::vector<std::string>& names,
                                  const queue_markers& markers) {
    return with_prefix(names, {}, markers);
}

std::vector<std::string> with_prefix(const std::vector<std::string>& names,
                                     std::string_view prefix,
                                     const queue_markers& markers) {
    std::vector<std::pair<std::uint32_t, std::string>> found;
    for (const std::string& name : names) {
        const queue_place p = place_of(name, markers);
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

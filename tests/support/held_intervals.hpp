#pragma once

#include <latchkey/fencing_token.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace latchkey::test {

/// A time in which a participant held a lock, as it saw it, on the clock that all processes of a
/// machine share.
struct held_interval {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    fencing_token token{};  ///< if tokens are compared
    int lock = 0;           ///< which, if there are several
};

using intervals = std::vector<held_interval>;

inline void append(intervals& all, const intervals& more) {
    all.insert(all.end(), more.begin(), more.end());
}

/// How many hold at the same time, at most.
[[nodiscard]] inline std::size_t most_at_once(const intervals& all) {
    std::vector<std::pair<std::int64_t, int>> steps;
    for (const held_interval& i : all) {
        steps.emplace_back(i.begin, 1);
        steps.emplace_back(i.end, -1);
    }
    std::sort(steps.begin(), steps.end());
    long inside = 0;
    long most = 0;
    for (const auto& [at, step] : steps) {
        inside += step;
        most = std::max(most, inside);
    }
    return static_cast<std::size_t>(most);
}

/// How many of them hold while one of the others does.
[[nodiscard]] inline std::size_t overlaps(const intervals& some, const intervals& others) {
    return static_cast<std::size_t>(std::count_if(some.begin(), some.end(), [&](const auto& a) {
        return std::any_of(others.begin(), others.end(), [&a](const auto& b) {
            return a.begin < b.end && b.begin < a.end;
        });
    }));
}

/// The first two of one lock that held at once, or the later of which has no greater token; empty
/// if there are none.
[[nodiscard]] inline std::string not_one_after_the_other(intervals all) {
    std::sort(all.begin(), all.end(), [](const held_interval& a, const held_interval& b) {
        return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
    });
    for (std::size_t i = 1; i < all.size(); ++i) {
        const held_interval& before = all[i - 1];
        const held_interval& after = all[i];
        const std::string both = before.token.to_string() + " and " + after.token.to_string();
        if (before.end > after.begin) {
            return "two held for " + std::to_string(before.end - after.begin) +
                   " ns, with the tokens " + both;
        }
        if (!(before.token < after.token)) {
            return "a later holder has no greater token: " + both;
        }
    }
    return {};
}

}  // namespace latchkey::test

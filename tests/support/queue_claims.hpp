#pragma once

#include "queue/queue_order.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace latchkey::test {

/// Decides from a list of the directory in any order.
[[nodiscard]] inline queue_verdict decide(const std::vector<std::string>& list,
                                          std::string_view own,
                                          const queue_markers& markers,
                                          queue_rule rule) {
    return queue_list(list, markers).decide(own, rule);
}

/// What must hold for any children of a queue's directory, found out slowly and obviously. The
/// claims that do not are in `broken`.
class queue_claims {
public:
    using names = std::vector<std::string>;
    using answer = queue_verdict::answer;
    using standing = queue_place::standing;

    /// `own_prefix`: names that begin so do not count for participants that say so.
    queue_claims(names list, const queue_markers& markers, const std::string& own_prefix)
        : list_(std::move(list)), markers_(markers) {
        for (const std::string& name : list_) {
            check_place(name);
        }
        check_grants();
        check_prefix(own_prefix);
        check_order();
        check_newcomer();
    }

    /// Decides for `own`, which need not be on the list, and checks the verdict.
    answer check_verdict(const std::string& own) {
        const queue_verdict v = decide(list_, own, markers_, rule_of(own));
        const queue_place mine = place_of(own, markers_);
        const auto conflicts = [&](const queue_place& p) { return conflict(p, mine); };
        const auto ahead = static_cast<std::size_t>(count(conflicts));
        const queue_place before = place_of(v.blocker, markers_);
        if (fails(v.what)) {
            require(v.blocker == own || contains(v.blocker), "the culprit is named");
            require(mine.what != standing::participant || has_end() || twins(mine) || twins(before),
                    "there is a culprit");
            return v.what;
        }
        require(!has_end(), "no number beyond the end is taken for another one");
        const answer expected = ahead == 0 ? answer::acquired : answer::wait;
        require(v.what == (contains(own) ? expected : answer::gone), "the first is granted");
        require(v.what != answer::acquired || !twins(mine), "no twin is granted");
        if (v.what == answer::wait) {
            require(conflicts(before), "a participant waits for one ahead");
            require(!twins(before), "no participant waits for one of two twins");
            require(v.ahead == ahead, "the verdict says how many are ahead");
            require(count([&](const queue_place& p) {
                        return conflicts(p) && p.sequence > before.sequence;
                    }) == 0,
                    "a participant waits for the nearest");
        }
        return v.what;
    }

    std::vector<std::string> broken;

private:
    void require(bool held, const char* claim) {
        if (!held) {
            broken.emplace_back(claim);
        }
    }

    [[nodiscard]] bool contains(const std::string& name) const {
        return std::ranges::find(list_, name) != list_.end();
    }

    [[nodiscard]] queue_place place(const std::string& name) const {
        return place_of(name, markers_);
    }

    template <class Claim>
    [[nodiscard]] std::ptrdiff_t count(Claim claim) const {
        return std::ranges::count_if(list_, [&](const auto& name) { return claim(place(name)); });
    }

    /// The rule of a participant that is not let in early.
    [[nodiscard]] queue_rule rule_of(const std::string& name) const {
        return place(name).shared ? queue_rule::exclusive_only : queue_rule::everybody;
    }

    /// Whether the one that is ahead of the other keeps it waiting.
    static bool conflict(const queue_place& before, const queue_place& after) {
        return before.what == standing::participant && before.sequence < after.sequence &&
               !(before.shared && after.shared);
    }

    static bool fails(answer a) { return a == answer::exhausted || a == answer::malformed; }

    /// Whether a name shows that numbers cannot be trusted any more.
    [[nodiscard]] bool has_end() const {
        return count([](const queue_place& p) {
                   return p.what == standing::exhausted || p.what == standing::malformed;
               }) > 0;
    }

    /// Whether two have that number and kind. A writer that becomes a reader is no twin of itself.
    [[nodiscard]] bool twins(const queue_place& of) const {
        return count([&](const queue_place& p) {
                   return p.what == standing::participant && p.sequence == of.sequence &&
                          p.shared == of.shared;
               }) > 1;
    }

    void check_place(const std::string& name) {
        const queue_place p = place(name);
        if (p.what != standing::participant) {
            require(p.sequence == 0, "only a participant has a sequence");
            return;
        }
        const std::string digits = name.substr(name.size() - 10);
        const std::string_view before = std::string_view(name).substr(0, name.size() - 10);
        const auto ends_in = [&](std::string_view ending) {
            return !ending.empty() && before.ends_with(ending);
        };
        require(p.shared ? ends_in(markers_.shared)
                         : ends_in(markers_.exclusive) || ends_in(markers_.others),
                "a participant ends in the marker and ten digits");
        require(std::to_string(10'000'000'000ULL + p.sequence).substr(1) == digits,
                "the sequence is what the digits say");
        require(p.sequence <= last_sequence, "no participant is past the end of the sequence");
    }

    /// Each decides for itself, from the same list.
    void check_grants() {
        std::vector<queue_place> granted;
        std::set<std::string> blockers;
        const names reversed(list_.rbegin(), list_.rend());
        for (const std::string& own : list_) {
            const queue_verdict v = decide(list_, own, markers_, rule_of(own));
            const queue_place mine = place(own);
            if (check_verdict(own) == answer::acquired) {
                granted.push_back(mine);
            }
            if (v.what == answer::wait && !mine.shared) {
                // Of a writer that became a reader both may be there for a moment.
                const bool is_both =
                    count([&](const queue_place& p) {
                        return p.what == standing::participant && p.sequence == mine.sequence;
                    }) > 1;
                require(is_both || blockers.insert(v.blocker).second, "two wait for one");
            }
            const queue_verdict again = decide(reversed, own, markers_, rule_of(own));
            require(again.what == v.what || (fails(again.what) && fails(v.what)),
                    "the order of the list does not matter");
            require(again.what != answer::wait ||
                        (again.blocker == v.blocker && again.ahead == v.ahead),
                    "the order of the list does not matter for who waits");
        }
        for (const queue_place& one : granted) {
            require(granted.size() == 1 || one.shared ||
                        std::ranges::all_of(
                            granted, [&](const auto& p) { return p.sequence == one.sequence; }),
                    "two that conflict are never granted");
        }
    }

    void check_prefix(const std::string& prefix) {
        const auto begins = [&](const auto& name) { return name.starts_with(prefix); };
        require(std::ranges::all_of(queue_list(list_, markers_).with_prefix(prefix), begins),
                "what an attempt created bears its prefix");
    }

    void check_order() {
        const names order = in_order(list_, markers_);
        require(std::ranges::is_sorted(
                    order, {}, [&](const auto& name) { return place(name).sequence; }),
                "order is by number");
        for (const std::string& own : order) {
            const auto others = count([&](const queue_place& p) {
                return p.what != standing::foreign &&
                       (p.what != standing::participant || p.sequence >= place(own).sequence);
            });
            require(queue_list(list_, markers_).is_last(own) == (others == 1),
                    "the last has no participant behind it");
        }
    }

    void check_newcomer() {
        const names order = in_order(list_, markers_);
        const queue_verdict free = decide(list_, {}, markers_, queue_rule::everybody);
        const auto takes_part = [](const queue_place& p) { return p.what != standing::foreign; };
        require((free.what == answer::acquired) == (count(takes_part) == 0),
                "it is free if only foreign znodes are there");
        require(free.what != answer::wait ||
                    (place(free.blocker).sequence == place(order.back()).sequence &&
                     free.ahead == order.size()),
                "a newcomer would wait behind all");
        require(free.what != answer::gone, "one that was never there is not gone");
    }

    const names list_;
    const queue_markers markers_;
};

}  // namespace latchkey::test

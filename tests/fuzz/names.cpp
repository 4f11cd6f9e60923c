#include "input.hpp"
#include "queue/queue_order.hpp"

#include <algorithm>
#include <set>

// The children of a lock's directory: anybody may create any. A line each; the first is a prefix
// that does not count.

namespace {

using namespace latchkey;
using fuzz::require;
using names = std::vector<std::string>;
using answer = queue_verdict::answer;
using standing = queue_place::standing;

constexpr queue_markers locks{.exclusive = "lock-", .shared = {}, .others = "__lock__"};
constexpr queue_markers read_write{.exclusive = "__WRIT__", .shared = "__READ__"};

bool contains(const names& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

/// What everybody goes by who is not let in early.
queue_rule rule_of(const std::string& name, const queue_markers& markers) {
    return place_of(name, markers).shared ? queue_rule::exclusive_only : queue_rule::everybody;
}

/// Whether the one that is ahead of the other keeps it waiting.
bool conflict(const queue_place& before, const queue_place& after) {
    return before.what == standing::participant && before.sequence < after.sequence &&
           !(before.shared && after.shared);
}

void check_place(const std::string& name, const queue_markers& markers) {
    const queue_place p = place_of(name, markers);
    if (p.what == standing::participant) {
        const std::string digits = name.substr(name.size() - 10);
        const std::string_view before = std::string_view(name).substr(0, name.size() - 10);
        const auto ends_in = [&](std::string_view marker) {
            return !marker.empty() && before.ends_with(marker);
        };
        require(p.shared ? ends_in(markers.shared)
                         : ends_in(markers.exclusive) || ends_in(markers.others),
                "a participant ends in the marker and ten digits");
        require(std::to_string(10'000'000'000ULL + p.sequence).substr(1) == digits,
                "the sequence is what the digits say");
        require(p.sequence <= last_sequence, "no participant is past the end of the sequence");
    } else {
        require(p.sequence == 0, "only a participant has a sequence");
    }
}

void check_verdict(const names& list,
                   const std::string& own,
                   const queue_markers& markers,
                   const queue_verdict& v) {
    const queue_place mine = place_of(own, markers);
    const auto ahead = static_cast<std::size_t>(
        std::count_if(list.begin(), list.end(), [&](const std::string& name) {
            return conflict(place_of(name, markers), mine);
        }));
    switch (v.what) {
        case answer::acquired:
            require(contains(list, own), "who is not there is not granted");
            require(v.ahead == 0 && ahead == 0, "nobody whom it conflicts with is ahead");
            break;
        case answer::wait: {
            const queue_place before = place_of(v.blocker, markers);
            require(contains(list, own) && contains(list, v.blocker), "both are there");
            require(before.what == standing::participant && conflict(before, mine),
                    "one waits for a lower participant");
            require(v.ahead == ahead, "one knows how many are ahead");
            require(std::none_of(list.begin(),
                                 list.end(),
                                 [&](const std::string& name) {
                                     const queue_place p = place_of(name, markers);
                                     return conflict(p, mine) && p.sequence > before.sequence;
                                 }),
                    "one waits for the nearest");
            break;
        }
        case answer::gone:
            require(!contains(list, own), "who is there is not gone");
            break;
        case answer::exhausted:
        case answer::malformed:
            require(v.blocker == own || contains(list, v.blocker), "the culprit is named");
            break;
    }
}

/// Everybody decides for himself, from the same list.
void check_grants(const names& list, const queue_markers& markers) {
    std::vector<queue_place> granted;
    std::set<std::string> blockers;
    names reversed(list.rbegin(), list.rend());
    for (const std::string& own : list) {
        const queue_rule rule = rule_of(own, markers);
        const queue_verdict v = decide(list, own, markers, rule);
        check_verdict(list, own, markers, v);
        const queue_place place = place_of(own, markers);
        if (v.what == answer::acquired) {
            granted.push_back(place);
        }
        if (v.what == answer::wait && !place.shared) {
            // Of a writer that became a reader both may be there for a moment.
            const bool twin = std::any_of(list.begin(), list.end(), [&](const std::string& name) {
                const queue_place p = place_of(name, markers);
                return name != own && p.what == standing::participant &&
                       p.sequence == place.sequence;
            });
            require(twin || blockers.insert(v.blocker).second, "nobody has two who wait for him");
        }
        const queue_verdict again = decide(reversed, own, markers, rule);
        const auto fails = [](answer a) {
            return a == answer::exhausted || a == answer::malformed;
        };
        require(again.what == v.what || (fails(again.what) && fails(v.what)),
                "the order of the list does not matter");
        require(
            again.what != answer::wait || (again.blocker == v.blocker && again.ahead == v.ahead),
            "the order of the list does not matter for who waits");
    }
    for (const queue_place& one : granted) {
        require(granted.size() == 1 || one.shared ||
                    std::all_of(granted.begin(),
                                granted.end(),
                                [&](const queue_place& p) { return p.sequence == one.sequence; }),
                "two that conflict are never granted");
    }
}

void check_ignored(const names& list, const queue_markers& markers, const std::string& prefix) {
    const names strays = queue_list(list, markers).with_prefix(prefix);
    require(std::all_of(strays.begin(),
                        strays.end(),
                        [&](const std::string& s) { return s.starts_with(prefix); }),
            "what an attempt created bears its prefix");
    for (const std::string& own : list) {
        names counted;
        std::copy_if(list.begin(), list.end(), std::back_inserter(counted), [&](const auto& name) {
            return name == own || prefix.empty() || !name.starts_with(prefix);
        });
        const queue_rule rule = rule_of(own, markers);
        const queue_verdict v = decide(list, own, markers, rule, prefix);
        const queue_verdict w = decide(counted, own, markers, rule);
        require(v.what == w.what && v.blocker == w.blocker && v.ahead == w.ahead,
                "what is ignored might as well not be there");
    }
}

void check_queue(const names& list, const std::string& prefix, const queue_markers& markers) {
    const auto place = [&](const std::string& name) { return place_of(name, markers); };
    for (const std::string& name : list) {
        check_place(name, markers);
    }
    check_grants(list, markers);
    check_ignored(list, markers, prefix);

    const names order = in_order(list, markers);
    require(std::is_sorted(order.begin(),
                           order.end(),
                           [&](const std::string& a, const std::string& b) {
                               return place(a).sequence < place(b).sequence;
                           }),
            "order is by number");
    for (const std::string& own : order) {
        require(queue_list(list, markers).is_last(own) ==
                    std::none_of(list.begin(),
                                 list.end(),
                                 [&](const std::string& name) {
                                     const queue_place p = place(name);
                                     return name != own && p.what != standing::foreign &&
                                            (p.what != standing::participant ||
                                             p.sequence >= place(own).sequence);
                                 }),
                "the last has nobody behind it");
    }
    // As one who has yet to join.
    const queue_verdict free = decide(list, {}, markers, queue_rule::everybody);
    require((free.what == answer::acquired) == std::all_of(list.begin(),
                                                           list.end(),
                                                           [&](const std::string& name) {
                                                               return place(name).what ==
                                                                      standing::foreign;
                                                           }),
            "it is free if only foreign znodes are there");
    require(free.what != answer::wait ||
                (place(free.blocker).sequence == place(order.back()).sequence &&
                 free.ahead == order.size()),
            "one would wait behind all");
    require(free.what != answer::gone, "who was never there is not gone");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    names list = fuzz::split(fuzz::text_of(bytes, size), '\n');
    const std::string prefix = list.front();
    list.erase(list.begin());
    // As the children of a znode are.
    std::set<std::string> seen;
    list.erase(std::remove_if(list.begin(),
                              list.end(),
                              [&](const std::string& name) {
                                  return name.empty() || !seen.insert(name).second;
                              }),
               list.end());
    list.resize(std::min<std::size_t>(list.size(), 40));
    check_queue(list, prefix, locks);
    check_queue(list, prefix, read_write);
    return 0;
}

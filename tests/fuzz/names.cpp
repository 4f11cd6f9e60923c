#include "input.hpp"
#include "queue.hpp"

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

constexpr std::string_view marker = "lock-";

void check_place(const std::string& name) {
    const queue_place p = place_of(name, marker);
    if (p.what == standing::participant) {
        const std::string digits = name.substr(name.size() - 10);
        require(name.size() >= 15 && name.substr(name.size() - 15, 5) == marker,
                "a participant ends in the marker and ten digits");
        require(std::to_string(10'000'000'000ULL + p.sequence).substr(1) == digits,
                "the sequence is what the digits say");
        require(p.sequence <= last_sequence, "no participant is past the end of the sequence");
    } else {
        require(p.sequence == 0, "only a participant has a sequence");
    }
}

void check_verdict(const names& list, const std::string& own, const queue_verdict& v) {
    const auto contains = [&](const std::string& name) {
        return std::find(list.begin(), list.end(), name) != list.end();
    };
    const std::uint32_t mine = place_of(own, marker).sequence;
    switch (v.what) {
        case answer::acquired:
            require(contains(own), "who is not there is not granted");
            require(v.ahead == 0 && in_order(list, marker).front() == own, "the first is granted");
            break;
        case answer::wait: {
            const queue_place before = place_of(v.blocker, marker);
            require(contains(own) && contains(v.blocker), "both are there");
            require(before.what == standing::participant && before.sequence < mine,
                    "one waits for a lower participant");
            const names order = in_order(list, marker);
            const auto at = std::find(order.begin(), order.end(), own);
            require(
                static_cast<std::size_t>(at - order.begin()) == v.ahead && *(at - 1) == v.blocker,
                "one waits for the nearest, and knows how many are ahead");
            break;
        }
        case answer::gone:
            require(!contains(own), "who is there is not gone");
            break;
        case answer::exhausted:
        case answer::malformed:
            require(v.blocker == own || contains(v.blocker), "the culprit is named");
            break;
    }
}

/// Everybody decides for himself, from the same list.
void check_grants(const names& list) {
    int granted = 0;
    std::set<std::string> blockers;
    names reversed(list.rbegin(), list.rend());
    for (const std::string& own : list) {
        const queue_verdict v = decide(list, own, marker, {});
        check_verdict(list, own, v);
        granted += v.what == answer::acquired ? 1 : 0;
        if (v.what == answer::wait) {
            require(blockers.insert(v.blocker).second, "nobody has two who wait for him");
        }
        const queue_verdict again = decide(reversed, own, marker, {});
        const auto fails = [](answer a) {
            return a == answer::exhausted || a == answer::malformed;
        };
        require(again.what == v.what || (fails(again.what) && fails(v.what)),
                "the order of the list does not matter");
        require(
            again.what != answer::wait || (again.blocker == v.blocker && again.ahead == v.ahead),
            "the order of the list does not matter for who waits");
    }
    require(granted <= 1, "two are never granted");
}

void check_ignored(const names& list, const std::string& prefix) {
    const names strays = with_prefix(list, prefix, marker);
    require(std::all_of(strays.begin(),
                        strays.end(),
                        [&](const std::string& s) { return s.starts_with(prefix); }),
            "what an attempt created bears its prefix");
    for (const std::string& own : list) {
        names counted;
        std::copy_if(list.begin(), list.end(), std::back_inserter(counted), [&](const auto& name) {
            return name == own || prefix.empty() || !name.starts_with(prefix);
        });
        const queue_verdict v = decide(list, own, marker, prefix);
        const queue_verdict w = decide(counted, own, marker, {});
        require(v.what == w.what && v.blocker == w.blocker && v.ahead == w.ahead,
                "what is ignored might as well not be there");
    }
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
    std::for_each(list.begin(), list.end(), check_place);
    check_grants(list);
    check_ignored(list, prefix);

    const names order = in_order(list, marker);
    require(std::is_sorted(order.begin(),
                           order.end(),
                           [](const std::string& a, const std::string& b) {
                               return place_of(a, marker).sequence < place_of(b, marker).sequence;
                           }),
            "order is by number");
    // As one who has yet to join.
    const queue_verdict free = decide(list, {}, marker, {});
    require((free.what == answer::acquired) == std::all_of(list.begin(),
                                                           list.end(),
                                                           [](const std::string& name) {
                                                               return place_of(name, marker).what ==
                                                                      standing::foreign;
                                                           }),
            "it is free if only foreign znodes are there");
    require(
        free.what != answer::wait || (free.blocker == order.back() && free.ahead == order.size()),
        "one would wait behind all");
    require(free.what != answer::gone, "who was never there is not gone");
    return 0;
}

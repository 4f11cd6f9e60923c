#include "queue/queue_order.hpp"

#include "directories/directory_lists.hpp"

#include <algorithm>
#include <any>
#include <iterator>
#include <memory>
#include <tuple>
#include <utility>

namespace latchkey::inline v0 {
namespace {

constexpr auto sequence_of = [](const auto& entry) { return entry.place.sequence; };

}  // namespace

queue_list::queue_list(const std::vector<std::string>& names, const queue_markers& markers)
    : markers_(markers) {
    by_name_.reserve(names.size());
    for (const std::string& name : names) {
        const entry e{name, place_of(name, markers_)};
        if (e.place.what == queue_place::standing::foreign) {
            const auto record = markers_.delays ? delay_record_of(name) : std::nullopt;
            if (record) {
                delays_.emplace_back(name, *record);
            }
            continue;
        }
        by_name_.push_back(e);
        if (e.place.what != queue_place::standing::participant) {
            disorder_.push_back(e);
        } else {
            (e.place.shared ? shared_ : exclusive_).push_back(e);
        }
    }
    const auto number_and_name = [](const entry& e) { return std::tie(e.place.sequence, e.name); };
    std::ranges::sort(by_name_, {}, &entry::name);
    std::ranges::sort(exclusive_, {}, number_and_name);
    std::ranges::sort(shared_, {}, number_and_name);
}

queue_list::range queue_list::beginning_with(std::string_view prefix) const noexcept {
    const auto first = std::partition_point(
        by_name_.begin(), by_name_.end(), [prefix](const entry& e) { return e.name < prefix; });
    return {first, std::partition_point(first, by_name_.end(), [prefix](const entry& e) {
                return e.name.starts_with(prefix);
            })};
}

template <class Counts>
queue_list::neighbor queue_list::nearest_below(std::uint64_t number,
                                               const entries& kind,
                                               Counts counts) {
    const auto end = std::ranges::lower_bound(kind, number, {}, sequence_of);
    neighbor found{.below = std::size_t(end - kind.begin())};
    for (auto e = end; e != kind.begin();) {
        --e;
        if (found.nearest != nullptr && e->place.sequence != found.nearest->place.sequence) {
            break;
        }
        if (counts(*e)) {
            found.twins += found.nearest != nullptr ? 1 : 0;
            found.nearest = &*e;
        }
    }
    return found;
}

queue_verdict queue_list::decide(std::string_view own, queue_rule rule) const {
    using enum queue_verdict::answer;
    using standing = queue_place::standing;
    const queue_place self =
        own.empty() ? queue_place{standing::participant, UINT32_MAX} : place_of(own, markers_);
    if (self.what != standing::participant) {
        return {.what = exhausted, .blocker = std::string(own)};
    }
    const auto counts = [own](const entry& e) { return e.name != own; };
    const auto disorder = std::find_if(disorder_.begin(), disorder_.end(), counts);
    if (disorder != disorder_.end()) {
        return {.what = disorder->place.what == standing::malformed ? malformed : exhausted,
                .blocker = std::string(disorder->name)};
    }
    const range found = beginning_with(own);
    if (!own.empty() && (found.first == found.last || found.first->name != own)) {
        return {.what = gone};
    }
    // Two participants of a kind with one number: the sequence has ended and started to repeat
    // itself, unless it is another directory than the own znode was in. Twins further ahead
    // concern the participants that wait for one of them.
    neighbor twin =
        nearest_below(std::uint64_t{self.sequence} + 1, self.shared ? shared_ : exclusive_, counts);
    if (twin.nearest != nullptr && twin.nearest->place.sequence != self.sequence) {
        twin = {};
    }
    if (twin.nearest != nullptr && rule != queue_rule::behind_twin) {
        return {.what = exhausted, .blocker = std::string(twin.nearest->name)};
    }
    const bool waits_for_readers = rule != queue_rule::exclusive_only;
    const neighbor writer = nearest_below(self.sequence, exclusive_, counts);
    const neighbor reader =
        waits_for_readers ? nearest_below(self.sequence, shared_, counts) : neighbor{};
    const bool reader_is_nearer =
        writer.nearest == nullptr ||
        (reader.nearest != nullptr &&  // of a downgrade the reader stays
         reader.nearest->place.sequence >= writer.nearest->place.sequence);
    const neighbor& next = twin.nearest != nullptr ? twin : reader_is_nearer ? reader : writer;
    if (next.nearest == nullptr) {
        const auto* const dead = delay_of_the_dead();
        if (dead == nullptr) {
            return {.what = acquired};
        }
        return {.what = wait,
                .blocker = std::string(dead->first),
                .ahead = 1,
                .delay = dead->second.delay};
    }
    queue_verdict verdict{.what = wait, .blocker = std::string(next.nearest->name)};
    verdict.ahead = writer.below + reader.below + (twin.nearest != nullptr ? 1 + twin.twins : 0);
    if (next.twins > (markers_.transferable ? 1 : 0)) {
        verdict.what = exhausted;
    }
    const bool may_be_replaced =
        markers_.transferable ||
        (rule == queue_rule::everybody && !next.nearest->place.shared && !markers_.shared.empty());
    const bool may_leave_a_record = !delays_.empty() || next.nearest->place.delays;
    verdict.grants_when_gone = verdict.ahead == 1 && !may_be_replaced && !may_leave_a_record;
    return verdict;
}

/// Its holder is not there any more: neither as a writer nor, after a downgrade, as a reader.
const queue_list::delays::value_type* queue_list::delay_of_the_dead() const noexcept {
    const auto is_there = [](const entries& kind, std::uint32_t number) {
        const auto found = std::ranges::lower_bound(kind, number, {}, sequence_of);
        return found != kind.end() && found->place.sequence == number;
    };
    const auto found = std::find_if(delays_.begin(), delays_.end(), [&](const auto& one) {
        return one.second.delay.count() > 0 && !is_there(exclusive_, one.second.sequence) &&
               !is_there(shared_, one.second.sequence);
    });
    return found == delays_.end() ? nullptr : &*found;
}

bool queue_list::joined_after(const entries& kind,
                              std::string_view own,
                              const queue_place& self) noexcept {
    const auto later = std::ranges::lower_bound(kind, self.sequence, {}, sequence_of);
    return std::any_of(later, kind.end(), [own](const entry& e) { return e.name != own; });
}

bool queue_list::is_last(std::string_view own) const noexcept {
    const queue_place self = place_of(own, markers_);
    return disorder_.empty() && !joined_after(exclusive_, own, self) &&
           !joined_after(shared_, own, self);
}

std::vector<std::string> queue_list::with_prefix(std::string_view prefix) const {
    const range found = beginning_with(prefix);
    if (!prefix.empty() && found.last - found.first == 1) {
        return {std::string(found.first->name)};  // nearly always
    }
    // A number that cannot be trusted is a late one.
    const auto number = [](const entry& e) {
        return e.place.what == queue_place::standing::participant ? e.place.sequence : UINT32_MAX;
    };
    entries chosen;
    std::copy_if(found.first, found.last, std::back_inserter(chosen), [prefix](const entry& e) {
        return !prefix.empty() || e.place.what == queue_place::standing::participant;
    });
    std::ranges::stable_sort(chosen, {}, number);
    std::vector<std::string> names;
    names.reserve(chosen.size());
    for (const entry& e : chosen) {
        names.emplace_back(e.name);
    }
    return names;
}

std::vector<std::string> in_order(const std::vector<std::string>& names,
                                  const queue_markers& markers) {
    return queue_list(names, markers).with_prefix({});
}

const queue_list& queue_of(const listing& l, const queue_markers& markers) {
    using sorted = std::shared_ptr<const queue_list>;
    const auto* known = std::any_cast<sorted>(&l.view);
    if (known == nullptr || (*known)->markers() != markers) {
        l.view = sorted(std::make_shared<queue_list>(l.names, markers));
        known = std::any_cast<sorted>(&l.view);
    }
    return **known;
}

}  // namespace latchkey::inline v0

#pragma once

#include "queue/znode_names.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {

struct listing;

/// Which of the participants ahead of it a participant waits for.
enum class queue_rule : std::uint8_t {
    everybody,
    exclusive_only,  ///< a reader; and an upgrader, which is exclusive to those behind it
    behind_twin,     ///< everybody, and the leader of the same number that handed over to it
};

/// Which participant blocks another one.
struct queue_verdict {
    enum class answer : std::uint8_t {
        acquired,   ///< no participant is ahead
        wait,       ///< for `blocker`, `ahead` participants in all
        gone,       ///< the own znode is not there
        exhausted,  ///< `blocker` has a number that cannot be trusted any more
        malformed,  ///< `blocker` cannot be ordered
    };

    answer what = answer::gone;
    std::string blocker = {};
    std::size_t ahead = 0;
    /// Only `blocker` is ahead, and no participant can take its place when it goes. A writer that
    /// waits for another writer may find a reader in its place: a downgrade.
    bool grants_when_gone = false;
    /// Not 0: `blocker` is no participant, but the record of a holder that died. No participant is
    /// ahead, and the first in the queue waits for so long.
    std::chrono::milliseconds delay{0};
};

/// A list of a directory, sorted once for all participants that ask where they are in it. Refers to
/// the names, which must outlive it.
class queue_list {
public:
    queue_list(const std::vector<std::string>& names, const queue_markers& markers);

    [[nodiscard]] const queue_markers& markers() const noexcept { return markers_; }

    /// Decides for the participant `own`; without a name, for one that has yet to join.
    ///
    /// Order is by number, never by name; foreign names take no part. The nearest one ahead is
    /// waited for. A shared and an exclusive participant of one number are no conflict: one becomes
    /// the other (a downgrade, ours or Curator's). Two that could be a leader and its successor are
    /// none either, for those behind them; for these two only if the rule says so. Takes time in
    /// the logarithm of the names.
    [[nodiscard]] queue_verdict decide(std::string_view own, queue_rule rule) const;

    /// Whether no participant on the list has joined after `own`.
    [[nodiscard]] bool is_last(std::string_view own) const noexcept;

    /// The names that begin with `prefix`, by number: what one attempt has created. Without a
    /// prefix, all that take part.
    [[nodiscard]] std::vector<std::string> with_prefix(std::string_view prefix) const;

private:
    struct entry {
        std::string_view name;
        queue_place place;
    };

    using entries = std::vector<entry>;
    using delays = std::vector<std::pair<std::string_view, delay_record>>;

    struct range {
        entries::const_iterator first;
        entries::const_iterator last;
    };

    /// The nearest of one kind below a number.
    struct neighbor {
        const entry* nearest = nullptr;
        std::size_t twins = 0;  ///< more of its number
        std::size_t below = 0;  ///< how many have a lower number than asked for
    };

    [[nodiscard]] range beginning_with(std::string_view prefix) const noexcept;
    template <class Counts>
    [[nodiscard]] static neighbor nearest_below(std::uint64_t number,
                                                const entries& kind,
                                                Counts counts);

    [[nodiscard]] const delays::value_type* delay_of_the_dead() const noexcept;
    [[nodiscard]] static bool joined_after(const entries& kind,
                                           std::string_view own,
                                           const queue_place& self) noexcept;

    queue_markers markers_;
    entries by_name_;    ///< all but foreign ones
    entries exclusive_;  ///< participants, by number
    entries shared_;     ///< the same
    entries disorder_;   ///< those that cannot be ordered
    delays delays_;      ///< of all holders that have left a record
};

/// The queue that a list shows. The first participant that asks sorts it, for all that share the
/// list. The participants of one queue use the same markers.
[[nodiscard]] const queue_list& queue_of(const listing& l, const queue_markers& markers);

/// Of a list of the directory in any order, the names that take part, by number.
[[nodiscard]] std::vector<std::string> in_order(const std::vector<std::string>& names,
                                                const queue_markers& markers);

}  // namespace latchkey::inline v0

#pragma once

#include "leader/transfer/mailbox.hpp"
#include "loop/loop.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace latchkey {

/// Who might lead better, as one candidate sees it by its own clock: a decision, without effects.
class priority_policy {
public:
    using time_point = loop::clock::time_point;
    using duration = loop::clock::duration;

    /// At least; also without a hysteresis.
    static constexpr std::chrono::seconds between_offers{1};

    struct choice {
        std::optional<mailbox_name> best;  ///< to be offered the leadership now
        /// When to decide again, if nothing changes before; nothing if that is no use.
        std::optional<time_point> again;
    };

    explicit priority_policy(duration hysteresis) : hysteresis_(hysteresis) {}

    /// These are the mailboxes that are there.
    void note(const std::vector<std::string>& names, time_point now);

    /// Nobody has been there yet: a term begins.
    void begin_term() noexcept;

    /// An offer is made to it: the next not before a hysteresis time.
    void note_offer(const mailbox_name& to, time_point now);

    /// The best of those with a higher priority than `own` that have been there for the hysteresis
    /// time; of the same priority, who has been there longest. If a better one is there for less,
    /// it is waited for, for another hysteresis time at most: two changes are worse than a late
    /// one.
    [[nodiscard]] choice choose(int own, time_point now) const;

private:
    struct seen {
        mailbox_name name;
        std::optional<time_point> since;    ///< in this term
        std::optional<time_point> offered;  ///< the last time

        [[nodiscard]] bool offered_within(duration d, time_point now) const noexcept {
            return offered && now - *offered < std::max<duration>(d, between_offers);
        }

        /// When it may be offered the leadership.
        [[nodiscard]] time_point ripe(duration hysteresis) const noexcept {
            const auto again = offered ? *offered + std::max<duration>(hysteresis, between_offers)
                                       : time_point::min();
            return std::max(*since + hysteresis, again);
        }
    };

    const duration hysteresis_;
    std::map<std::string, seen> peers_;  ///< by the mailbox's name
};

}  // namespace latchkey

#pragma once

#include "leader/transfer/mailbox.hpp"
#include "loop/loop.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

/// Which candidates are better, as one candidate sees it by its own clock. A decision without
/// effects.
class priority_policy {
public:
    using time_point = loop::clock::time_point;
    using duration = loop::clock::duration;

    /// The shortest time between two offers, even without a hysteresis.
    static constexpr std::chrono::seconds between_offers{1};

    struct choice {
        std::optional<mailbox_name> best;  ///< the candidate to offer the leadership to now
        /// When to decide again if nothing changes before; nothing if that would be of no use.
        std::optional<time_point> again;
    };

    explicit priority_policy(duration hysteresis) : hysteresis_(hysteresis) {}

    /// These mailboxes exist now.
    void note(const std::vector<std::string>& names, time_point now);

    /// A term begins: no candidate has been present yet.
    void begin_term() noexcept;

    /// An offer is made to this candidate. The next one follows after a hysteresis time at the
    /// earliest.
    void note_offer(const mailbox_name& to, time_point now);

    /// The best candidate with a higher priority than `own` that has been present for the
    /// hysteresis time. Of equal priorities, the one that has been present longest. If an even
    /// better candidate arrived more recently, waits for it, for another hysteresis time at most,
    /// because one late change is better than two.
    [[nodiscard]] choice choose(int own, time_point now) const;

private:
    struct seen {
        mailbox_name name;
        std::optional<time_point> since;    ///< in this term
        std::optional<time_point> offered;  ///< the last time

        /// From when on the leadership may be offered to it.
        [[nodiscard]] time_point ripe(duration hysteresis) const noexcept {
            const auto again = offered ? *offered + std::max<duration>(hysteresis, between_offers)
                                       : time_point::min();
            return std::max(*since + hysteresis, again);
        }
    };

    const duration hysteresis_;
    std::map<std::string, seen> peers_;  ///< by the name of the mailbox
};

}  // namespace latchkey::inline v0

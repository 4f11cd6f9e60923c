#pragma once

#include <latchkey/ensemble.hpp>

#include "ensemble/virtual/random_source.hpp"
#include "ensemble/virtual/virtual_loop.hpp"
#include "plan.hpp"
#include "recipe.hpp"
#include "simulation.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace latchkey::model {
class cluster;
}

namespace latchkey::simulation {

using duration = std::chrono::nanoseconds;

/// What the parts of one run share.
struct stage {
    explicit stage(const options& how);

    stage(const stage&) = delete;
    stage& operator=(const stage&) = delete;

    /// Since the run began.
    [[nodiscard]] duration now() const { return servers.now() - begun; }

    /// The longest that a message and its answer take, that many times over.
    [[nodiscard]] duration hops(int count) const {
        const auto& how = what.servers;
        return (how.one_way + how.between_servers + how.jitter * 2) * count +
               std::chrono::milliseconds(1);
    }

    /// The numbers for one decision of the program that runs, or of none: what others draw, or this
    /// one for other decisions, does not move them.
    [[nodiscard]] model::random_source& random(std::string_view decision) {
        return streams(decision, loop.running());
    }

    /// A duration in [0, most].
    [[nodiscard]] duration up_to(std::string_view decision, duration most) {
        return duration(random(decision).below(static_cast<std::uint64_t>(most.count()) + 1));
    }

    /// The longest time of a hold: less once there are no faults any more.
    [[nodiscard]] duration longest_hold() const {
        return calm ? std::min(what.longest_hold, duration(what.session_timeout) / 10)
                    : what.longest_hold;
    }

    [[nodiscard]] bool over() const noexcept { return !violations.empty(); }

    /// The earliest is the cause: what is noticed later says when it was.
    void broken(const char* invariant, std::string text, std::optional<duration> at = {});

    /// A line of the tale: `parts` are written only if somebody wants to hear it. They are part of
    /// the trace by `mark`.
    template <typename... Parts>
    void tell(const Parts&... parts) {
        if (tale != nullptr) {
            begin_line();
            (*tale << ... << parts) << '\n';
        }
    }

    void mark(std::uint64_t what);

    model::random_streams streams;
    const lock_recipe& recipe;
    const plan what;
    testing::ensemble servers;
    model::cluster& cluster;
    virtual_loop& loop;
    std::ostream* const tale;
    const duration begun;
    figures counts;
    std::vector<violation> violations;
    // What the adversary is about.
    int troubles = 0;                ///< present ones
    std::uint64_t disturbances = 0;  ///< so far, but for the operator's and cut connections
    duration last_trouble{};         ///< when one ended, or there was a disturbance
    duration last_cut{};             ///< of a connection, a change of data, or a follower's lag
    duration last_refusal{-1};       ///< when a directory's access was taken away
    bool calm = false;               ///< no faults any more
    bool stopping = false;           ///< no program begins a call any more

private:
    void begin_line();
};

}  // namespace latchkey::simulation

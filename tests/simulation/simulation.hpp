#pragma once

#include <latchkey/ensemble.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace latchkey::simulation {

/// What one run is made from. The same seed gives the same run, event by event.
struct options {
    std::uint64_t seed = 1;
    /// Which faults, and how often; drawn from the seed unless set.
    std::optional<testing::faults> faults = {};
};

/// A promise that was broken.
struct violation {
    std::string invariant;        ///< "I3"
    std::string text;             ///< for a reader
    std::chrono::nanoseconds at;  ///< virtual time since the run began
};

/// What happened, countable: sums over runs are made with `+=`.
struct figures {
    std::uint64_t runs = 0;
    std::chrono::nanoseconds virtual_time{};
    std::uint64_t events = 0;
    std::uint64_t grants = 0;
    std::uint64_t requests = 0;

    figures& operator+=(const figures& other) noexcept;
};

/// What came of a run. It ends at the first violation.
struct verdict {
    std::vector<violation> violations;  ///< the first is the cause; empty: all promises were kept
    std::uint64_t trace = 0;            ///< a hash of the whole run: same seed, same hash
    figures counts;
};

/// Clients that take turns on one lock, on a virtual clock, while servers, connections and the
/// clients themselves fail. Nothing is thrown for a violation.
[[nodiscard]] verdict simulate(const options& how);

}  // namespace latchkey::simulation

#pragma once

#include <latchkey/fencing_token.hpp>

#include "stage.hpp"
#include "truth.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace latchkey::simulation {

struct call;

/// Checks the turns that callers of one object take in one place.
///
///   I15  Once its client can know that another participant waits behind, a place passes at most
///        local_passes times, and not after local_time.
class turn_judge {
public:
    turn_judge(stage& s, const truth& t) : stage_(s), truth_(t) {}

    /// Somebody queued.
    void joined(const participant& p);

    /// A hold of that place was granted, in a queue.
    void granted(const call& c, const participant& place, fencing_token token);

private:
    /// Who queued, and what was wrong by then.
    struct arrival {
        duration at{};
        std::uint64_t disturbances = 0;
        bool quiet = false;
    };

    [[nodiscard]] bool is_turn(const participant& place, fencing_token token);
    void pass(const call& c, const participant& place, const participant& waiting, duration since);
    [[nodiscard]] bool hinders_nothing(const participant& waiting, const call& c) const;

    stage& stage_;
    const truth& truth_;
    std::map<std::int64_t, arrival> arrivals_;     ///< by czxid
    std::map<std::string, duration> first_turns_;  ///< by place
    std::map<std::string, std::uint32_t> passes_;  ///< since another one is known, by place
};

}  // namespace latchkey::simulation

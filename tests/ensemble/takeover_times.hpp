#pragma once

#include "contest.hpp"
#include "number_from.hpp"
#include "real_ensemble.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace latchkey::test {

using durations = std::vector<std::chrono::nanoseconds>;

/// LATCHKEY_FAILOVERS=100 makes better figures, which are held to what is promised (`scripts/soak
/// fail-over`).
inline bool for_figures() {
    return std::getenv("LATCHKEY_FAILOVERS") != nullptr;
}

inline int rounds(int usual) {
    return static_cast<int>(std::max<std::uint64_t>(
        1, number_from("LATCHKEY_FAILOVERS", static_cast<std::uint64_t>(usual))));
}

/// Until the servers have ended the session of a process that died, at most. One of them says what
/// their tick is.
inline std::chrono::nanoseconds until_a_session_ends(std::chrono::milliseconds timeout,
                                                     const real_ensemble& servers) {
    const std::string conf = servers.four_letter_word(1, "conf");
    const auto at = conf.find("tickTime=");
    const long tick = at == std::string::npos ? 2000 : std::stol(conf.substr(at + 9));
    return timeout + std::chrono::milliseconds(tick) * 3 / 2;
}

inline std::chrono::nanoseconds worst(const durations& times) {
    return *std::max_element(times.begin(), times.end());
}

inline void report_all(const std::string& name, durations times) {
    std::sort(times.begin(), times.end());
    report(name + "_median", times[times.size() / 2]);
    report(name + "_p99", times[(times.size() * 99 - 1) / 100]);
    report(name + "_worst", times.back());
}

}  // namespace latchkey::test

#pragma once

#include "contest.hpp"
#include "number_from.hpp"
#include "real_ensemble.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

/// How long it takes until somebody else goes on, and how often that is tried: LATCHKEY_FAILOVERS
/// makes better figures of it, which are held to what is promised.
namespace latchkey::test {

using durations = std::vector<std::chrono::nanoseconds>;

[[nodiscard]] inline bool for_figures() {
    return std::getenv("LATCHKEY_FAILOVERS") != nullptr;
}

[[nodiscard]] inline int rounds(int usual) {
    return static_cast<int>(std::max<std::uint64_t>(
        1, number_from("LATCHKEY_FAILOVERS", static_cast<std::uint64_t>(usual))));
}

/// The servers' tick, as one of them says.
[[nodiscard]] inline std::chrono::milliseconds tick_of(const real_ensemble& servers) {
    const std::string configuration = servers.four_letter_word(1, "conf");
    const auto at = configuration.find("tickTime=");
    return std::chrono::milliseconds(
        at == std::string::npos ? 2000 : std::stol(configuration.substr(at + 9)));
}

/// Until the servers have ended the session of a process that died, at most.
[[nodiscard]] inline std::chrono::nanoseconds until_a_session_ends(
    std::chrono::milliseconds timeout, const real_ensemble& servers) {
    return timeout + tick_of(servers) * 3 / 2;
}

[[nodiscard]] inline std::chrono::nanoseconds worst(const durations& times) {
    return *std::max_element(times.begin(), times.end());
}

inline void report_all(const std::string& name, durations times) {
    std::sort(times.begin(), times.end());
    report(name + "_median", times[times.size() / 2]);
    report(name + "_worst", times.back());
}

}  // namespace latchkey::test

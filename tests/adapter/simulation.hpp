#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace latchkey::test {

/// A run of sessions over the C client, on the simulated network, drawn from a seed.
struct adapter_run {
    std::vector<std::string> violations;  ///< of what a session promises; the first is the cause
    std::uint64_t trace = 0;              ///< equal for equal seeds
    std::uint64_t answered = 0;           ///< requests, with a definite answer
    std::uint64_t lost = 0;               ///< requests whose outcome is unknown
    std::uint64_t connected = 0;
    std::uint64_t watches = 0;  ///< that told
    std::uint64_t expired = 0;
};

/// `tale`: where to tell all that happens, if anywhere.
[[nodiscard]] adapter_run simulate_adapter(std::uint64_t seed, std::ostream* tale = nullptr);

}  // namespace latchkey::test

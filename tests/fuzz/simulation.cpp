#include "simulation.hpp"

#include "input.hpp"

// Schedules: the first bytes are a seed of the simulation, the others say how much each fault
// weighs. What becomes of a run is asked of its judge.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace latchkey;
    simulation::options how;
    how.seed = 0;
    std::size_t taken = 0;
    while (taken < size && taken < 4) {
        how.seed = how.seed << 8U | bytes[taken++];
    }
    if (taken < size) {
        auto& weights = how.faults.emplace();
        for (std::size_t i = 0; taken < size && i < weights.size(); ++i) {
            weights[i] = bytes[taken++] % 8U;
        }
    }
    const simulation::verdict v = simulation::simulate(how);
    if (!v.violations.empty()) {
        std::fprintf(stderr,
                     "seed %llu: %s\n",
                     static_cast<unsigned long long>(how.seed),
                     v.violations.front().text.c_str());
    }
    fuzz::require(v.violations.empty(), "all promises are kept");
    return 0;
}

#include "simulation.hpp"

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

// Runs seeds for a person: `simulate_adapter FIRST COUNT`, or with --tell the tale of one.
int main(int argc, char** argv) {
    using latchkey::test::simulate_adapter;
    if (argc != 3) {
        std::cerr << "Usage: simulate_adapter FIRST COUNT | --tell SEED\n";
        return 64;
    }
    if (std::string(argv[1]) == "--tell") {
        return simulate_adapter(std::stoull(argv[2]), &std::cout).violations.empty() ? 0 : 1;
    }
    const std::uint64_t first = std::stoull(argv[1]);
    int broken = 0;
    latchkey::test::adapter_run all;
    for (std::uint64_t seed = first; seed < first + std::stoull(argv[2]); ++seed) {
        const auto run = simulate_adapter(seed);
        if (!run.violations.empty()) {
            ++broken;
            std::cout << "seed " << seed << ": " << run.violations.front().promise << ": "
                      << run.violations.front().text << std::endl;
        }
        all.add(run);
    }
    std::cout << broken << " broken; " << all.answered << " answered, " << all.lost << " lost, "
              << all.connected << " connected, " << all.watches << " watches, " << all.expired
              << " expired\n";
    return broken == 0 ? 0 : 1;
}

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
    std::uint64_t answered = 0;
    std::uint64_t lost = 0;
    std::uint64_t connected = 0;
    std::uint64_t watches = 0;
    std::uint64_t expired = 0;
    for (std::uint64_t seed = first; seed < first + std::stoull(argv[2]); ++seed) {
        const auto run = simulate_adapter(seed);
        if (!run.violations.empty()) {
            ++broken;
            std::cout << "seed " << seed << ": " << run.violations.front().promise << ": "
                      << run.violations.front().text << std::endl;
        }
        answered += run.answered;
        lost += run.lost;
        connected += run.connected;
        watches += run.watches;
        expired += run.expired;
    }
    std::cout << broken << " broken; " << answered << " answered, " << lost << " lost, "
              << connected << " connected, " << watches << " watches, " << expired << " expired\n";
    return broken == 0 ? 0 : 1;
}

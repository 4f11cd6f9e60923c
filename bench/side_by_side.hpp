#pragma once

#include <functional>
#include <vector>

#include <benchmark/benchmark.h>

namespace latchkey::bench {

/// How one of the two forms does what is compared.
struct side {
    std::function<double()> cycle;  ///< does it once; returns the microseconds that count
    /// Waits for what the cycles left under way; its time counts for the mean.
    std::function<void()> settle = [] {};
};

struct extent {
    int blocks = 20;
    int cycles = 100;  ///< of each side in a block
};

/// Runs blocks of Latchkey's form and of the plain one in turn, so that whatever else the machine
/// does meets both, and reports the medians, the 99th percentiles and the ratios as counters. One
/// call is one run.
void compare(benchmark::State& state, const side& latchkey, const side& plain, extent e);

}  // namespace latchkey::bench

#include "side_by_side.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>

namespace latchkey::bench {
namespace {

using clock = std::chrono::steady_clock;

struct record {
    std::vector<double> cycles;  ///< microseconds each
    double total = 0;            ///< all of them, with what was left under way
};

void run_block(const side& s, int cycles, record& r) {
    for (int i = 0; i < cycles; ++i) {
        r.cycles.push_back(s.cycle());
        r.total += r.cycles.back();
    }
    const auto start = clock::now();
    s.settle();
    r.total += std::chrono::duration<double, std::micro>(clock::now() - start).count();
}

double percentile(const std::vector<double>& sorted, double part) {
    const auto last = static_cast<double>(sorted.size() - 1);
    return sorted[static_cast<std::size_t>(part * last + 0.5)];
}

void report(benchmark::State& state, const std::string& who, record& r) {
    std::sort(r.cycles.begin(), r.cycles.end());
    state.counters[who + "_p50_us"] = percentile(r.cycles, 0.50);
    state.counters[who + "_p99_us"] = percentile(r.cycles, 0.99);
    state.counters[who + "_mean_us"] = r.total / static_cast<double>(r.cycles.size());
}

}  // namespace

void compare(benchmark::State& state, const side& latchkey, const side& plain, extent e) {
    record ours;
    record theirs;
    record warm_up;
    run_block(latchkey, e.cycles, warm_up);
    run_block(plain, e.cycles, warm_up);
    for (auto _ : state) {
        for (int i = 0; i < e.blocks; ++i) {
            run_block(latchkey, e.cycles, ours);
            run_block(plain, e.cycles, theirs);
        }
        state.SetIterationTime(ours.total * 1e-6);
    }
    report(state, "latchkey", ours);
    report(state, "plain", theirs);
    state.counters["ratio"] = state.counters["latchkey_p50_us"] / state.counters["plain_p50_us"];
    state.counters["mean_ratio"] =
        state.counters["latchkey_mean_us"] / state.counters["plain_mean_us"];
}

}  // namespace latchkey::bench

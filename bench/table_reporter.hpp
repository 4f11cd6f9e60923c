#pragma once

#include <vector>

#include <benchmark/benchmark.h>

namespace latchkey::bench {

/// One line a comparison: the medians of its runs. The JSON and CSV reporters of Google Benchmark
/// have every run (--benchmark_out=FILE).
class table_reporter final : public benchmark::BenchmarkReporter {
public:
    bool ReportContext(const Context& context) override;
    void ReportRuns(const std::vector<Run>& report) override;
};

}  // namespace latchkey::bench

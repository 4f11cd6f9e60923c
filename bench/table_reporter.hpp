#pragma once

#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

namespace latchkey::bench {

/// One line a comparison: the medians of its runs. The JSON and CSV reporters of Google Benchmark
/// have every run (--benchmark_out=FILE).
class table_reporter final : public benchmark::BenchmarkReporter {
public:
    /// What the two columns are called.
    explicit table_reporter(std::string one = "latchkey", std::string other = "plain")
        : one_(std::move(one)), other_(std::move(other)) {}

    bool ReportContext(const Context& context) override;
    void ReportRuns(const std::vector<Run>& report) override;

private:
    std::string one_;
    std::string other_;
};

}  // namespace latchkey::bench

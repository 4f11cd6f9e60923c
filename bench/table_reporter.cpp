#include "table_reporter.hpp"

#include <cstdio>
#include <string>

namespace latchkey::bench {
namespace {

double counter(const benchmark::BenchmarkReporter::Run& run, const char* name) {
    const auto found = run.counters.find(name);
    return found == run.counters.end() ? 0 : found->second.value;
}

}  // namespace

bool table_reporter::ReportContext(const Context& /*context*/) {
    std::printf("%-44s %17s %17s %15s %6s %6s\n",
                "microseconds; median of the runs",
                (one_ + " p50/p99").c_str(),
                (other_ + " p50/p99").c_str(),
                "means",
                "ratio",
                "means");
    return true;
}

void table_reporter::ReportRuns(const std::vector<Run>& report) {
    for (const Run& run : report) {
        const std::string name = run.run_name.function_name;
        if (run.error_occurred) {
            std::printf("%-44s %s\n", name.c_str(), run.error_message.c_str());
        } else if (run.aggregate_name == "median" || run.repetitions == 1) {
            std::printf("%-44s %8.0f %8.0f %8.0f %8.0f %7.0f %7.0f %6.2f %6.2f\n",
                        name.c_str(),
                        counter(run, "latchkey_p50_us"),
                        counter(run, "latchkey_p99_us"),
                        counter(run, "plain_p50_us"),
                        counter(run, "plain_p99_us"),
                        counter(run, "latchkey_mean_us"),
                        counter(run, "plain_mean_us"),
                        counter(run, "ratio"),
                        counter(run, "mean_ratio"));
        }
    }
    std::fflush(stdout);
}

}  // namespace latchkey::bench

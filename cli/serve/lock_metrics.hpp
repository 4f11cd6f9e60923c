#pragma once

#include <latchkey/client.hpp>
#include <latchkey/prometheus_stats.hpp>

#include "serve/snapshot.hpp"

#include <chrono>
#include <cstddef>
#include <set>
#include <string>

namespace latchkey::cli {

/// What a reading shows, as metrics for Prometheus. docs/observability.md lists them. Used by one
/// thread.
class lock_metrics {
public:
    /// The first `most_paths` paths that are seen get time series of their own, until this object
    /// ends. All other locks share those of the path "other".
    explicit lock_metrics(std::size_t most_paths) : most_paths_(most_paths) {}

    /// Adds the metrics of client::stats().
    void add(const client& c) { stats_.add(c, "serve"); }

    /// Everything, in the text format of Prometheus.
    [[nodiscard]] std::string text(const snapshot& s, std::chrono::steady_clock::time_point now);

private:
    [[nodiscard]] bool is_labelled(const std::string& path);

    const std::size_t most_paths_;
    const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    std::set<std::string> labelled_;
    prometheus_stats stats_;
};

}  // namespace latchkey::cli

#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace latchkey::bench {

/// What one line of standard input asks for: `WORKLOAD name=value ...`.
///
/// All drivers, in whatever language, are started with the servers as their argument, read such
/// lines, and answer each with one line: a JSON object. `operations` and `seconds` are in each.
/// `median_us` and `p99_us` are of single operations, or of hand-offs: from a release to the next
/// grant. A driver that fails writes why to standard error and ends.
class order {
public:
    explicit order(const std::string& line);

    [[nodiscard]] const std::string& workload() const { return workload_; }

    /// Throws std::invalid_argument if the line does not have it.
    [[nodiscard]] const std::string& text(const std::string& name) const;
    [[nodiscard]] std::size_t number(const std::string& name) const;
    [[nodiscard]] std::chrono::duration<double> time() const;

private:
    std::string workload_;
    std::map<std::string, std::string> values_;
};

/// What a workload brought.
struct figures {
    std::size_t operations = 0;
    double seconds = 0;
    std::vector<double> times = {};             ///< microseconds
    std::map<std::string, double> others = {};  ///< more for the JSON object
};

using workloads = std::map<std::string, std::function<figures(const order&)>>;

/// Reads lines until the end of standard input. Returns the status of the program.
int serve(const workloads& all);

/// How often this process has asked for heap memory, and for how many bytes, in all threads. Both
/// are zero in programs with a sanitizer.
struct heap_use {
    std::size_t allocations = 0;
    std::size_t bytes = 0;

    [[nodiscard]] static heap_use now();
};

using steady = std::chrono::steady_clock;

[[nodiscard]] inline double seconds_since(steady::time_point start) {
    return std::chrono::duration<double>(steady::now() - start).count();
}

[[nodiscard]] inline double microseconds(steady::duration d) {
    return std::chrono::duration<double, std::micro>(d).count();
}

/// Repeats `operation` for the time of `o`, and says what each took and what it allocated.
[[nodiscard]] figures repeat(const order& o, const std::function<void()>& operation);

}  // namespace latchkey::bench

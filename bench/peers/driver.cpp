#include "driver.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <sstream>
#include <stdexcept>

namespace latchkey::bench {
namespace {

double percentile(const std::vector<double>& sorted, double part) {
    return sorted[std::min(sorted.size() - 1, std::size_t(double(sorted.size()) * part))];
}

void print(figures f) {
    if (!f.times.empty()) {
        std::sort(f.times.begin(), f.times.end());
        f.others["median_us"] = percentile(f.times, 0.5);
        f.others["p99_us"] = percentile(f.times, 0.99);
    }
    std::printf("{\"operations\": %zu, \"seconds\": %.6f", f.operations, f.seconds);
    for (const auto& [name, value] : f.others) {
        std::printf(", \"%s\": %.4f", name.c_str(), value);
    }
    std::printf("}\n");
    std::fflush(stdout);
}

}  // namespace

order::order(const std::string& line) {
    std::istringstream words(line);
    words >> workload_;
    for (std::string word; words >> word;) {
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos) {
            throw std::invalid_argument("no value: " + word);
        }
        values_[word.substr(0, equals)] = word.substr(equals + 1);
    }
}

const std::string& order::text(const std::string& name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) {
        throw std::invalid_argument(workload_ + " needs " + name);
    }
    return found->second;
}

std::size_t order::number(const std::string& name) const {
    return std::stoul(text(name));
}

std::chrono::duration<double> order::time() const {
    return std::chrono::duration<double>(std::stod(text("seconds")));
}

int serve(const workloads& all) {
    try {
        for (std::string line; std::getline(std::cin, line);) {
            const order o(line);
            const auto found = all.find(o.workload());
            if (found == all.end()) {
                throw std::invalid_argument("no workload " + o.workload());
            }
            print(found->second(o));
        }
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}

figures repeat(const order& o, const std::function<void()>& operation) {
    figures f;
    f.times.reserve(4'000'000);
    const heap_use before = heap_use::now();
    const auto start = steady::now();
    const auto end = start + std::chrono::duration_cast<steady::duration>(o.time());
    for (auto begin = start; begin < end && f.times.size() < f.times.capacity();) {
        operation();
        const auto now = steady::now();
        f.times.push_back(microseconds(now - begin));
        begin = now;
    }
    f.seconds = seconds_since(start);
    const heap_use after = heap_use::now();
    f.operations = f.times.size();
    f.others["allocations"] = double(after.allocations - before.allocations) / double(f.operations);
    f.others["allocated"] = double(after.bytes - before.bytes) / double(f.operations);
    return f;
}

}  // namespace latchkey::bench

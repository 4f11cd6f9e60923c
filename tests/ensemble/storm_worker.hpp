#pragma once

#include "held_intervals.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::test {

/// What a process of the storm is to do.
struct storm_order {
    std::string servers;
    std::string directory;  ///< the locks are "<directory>/0", "<directory>/1", ...
    int locks = 3;
    int threads = 8;
    std::chrono::milliseconds duration{3000};
    enum class objects : std::uint8_t {
        own,     ///< each thread has a mutex a lock
        shared,  ///< all threads share one
        kept,    ///< ... with local_passes and retain_for
    };

    objects use = objects::own;
    std::string history;  ///< the file to write

    [[nodiscard]] std::string path(int lock) const {
        return directory + '/' + std::to_string(lock);
    }
};

/// The command line that makes this program a worker, and the worker. Returns its exit status.
[[nodiscard]] std::vector<std::string> worker_arguments(const storm_order& o);
[[nodiscard]] bool is_worker(int argc, char** argv);
int run_worker(char** argv);

[[nodiscard]] intervals read_history(const std::string& file);

}  // namespace latchkey::test

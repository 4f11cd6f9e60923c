#pragma once

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
    bool shared_objects = false;  ///< all threads share one mutex a lock; else each has its own
    std::string history;          ///< the file to write

    [[nodiscard]] std::string path(int lock) const {
        return directory + '/' + std::to_string(lock);
    }
};

/// A time in which a thread held a lock, as it saw it, on the clock that all processes of a machine
/// share.
struct held_interval {
    int lock = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::uint64_t zxid = 0;
    std::uint64_t turn = 0;
};

/// The command line that makes this program a worker, and the worker. Returns its exit status.
[[nodiscard]] std::vector<std::string> worker_arguments(const storm_order& o);
[[nodiscard]] bool is_worker(int argc, char** argv);
int run_worker(char** argv);

[[nodiscard]] std::vector<held_interval> read_history(const std::string& file);

}  // namespace latchkey::test

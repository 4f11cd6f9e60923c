#pragma once

#include "chaos_recipe.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace latchkey::test {

/// What a worker process of the chaos run is to do: some threads take turns on some locks, tell of
/// it, and add to the register while they hold one.
struct chaos_order {
    recipe what = recipe::mutex;
    std::string servers;
    std::string directory;  ///< the locks are "<directory>/0", "<directory>/1", ...
    int locks = 3;
    int threads = 2;
    std::chrono::milliseconds session_timeout{};
    int worker = 0;
    std::uint64_t seed = 0;
    std::string register_socket;
    std::string log;  ///< the file for the worker's history

    [[nodiscard]] std::string path(int lock) const {
        return directory + '/' + std::to_string(lock);
    }

    /// The register of those who hold a lock beside others.
    [[nodiscard]] static std::string beside(const std::string& lock) { return lock + "-beside"; }
};

/// The command line that makes this program a worker. SIGTERM: no more turns, but stay connected;
/// "<log>.drained" tells that it is so. SIGINT: close and exit with 0. It does not outlive its
/// parent.
[[nodiscard]] std::vector<std::string> chaos_arguments(const chaos_order& o);
[[nodiscard]] bool is_chaos_worker(int argc, char** argv);
int run_chaos_worker(char** argv);

}  // namespace latchkey::test

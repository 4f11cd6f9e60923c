#pragma once

#include "chaos_recipe.hpp"
#include "child_process.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <tuple>

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
    std::string log;      ///< the file for the worker's history
    bool brisk = false;   ///< holds are short, and follow each other closely
    bool direct = false;  ///< most workers hand on directly, and datagrams are lost

    [[nodiscard]] auto fields() {
        return std::tie(what,
                        servers,
                        directory,
                        locks,
                        threads,
                        session_timeout,
                        worker,
                        seed,
                        register_socket,
                        log,
                        brisk,
                        direct);
    }

    [[nodiscard]] std::string path(int lock) const {
        return directory + '/' + std::to_string(lock);
    }

    /// The register of those who hold a lock beside others.
    [[nodiscard]] static std::string beside(const std::string& lock) { return lock + "-beside"; }
};

/// What a worker process runs. SIGTERM: no more turns, but stay connected; "<log>.drained" tells
/// that it is so, and how many grants were direct. SIGINT: close and exit with 0. It does not
/// outlive its parent.
void run_chaos_worker(const chaos_order& o);

inline const child_program<chaos_order> chaos_worker{"chaos-worker", &run_chaos_worker};

}  // namespace latchkey::test

#pragma once

#include "child_process.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

namespace latchkey::test {

/// What stands between a holder that was stopped for too long and the data.
enum class guard : std::uint8_t {
    nothing,      ///< the lock alone
    token,        ///< the register refuses lower tokens
    transaction,  ///< the value is a znode, set in a transaction guarded by the hold
};

/// Processes that read a number and write it back increased, under a lock. Now and then one is
/// stopped between the two, after it has made sure that its hold is valid, until another has taken
/// over.
struct lost_updates_options {
    guard by = guard::nothing;
    std::string servers;
    std::chrono::milliseconds session_timeout{2000};
    int processes = 4;
    std::uint64_t seed = 1;
    /// Ends after so many stops and at least so many acknowledged updates, or after so much time.
    std::size_t stops = SIZE_MAX;
    std::size_t updates = 0;
    std::chrono::milliseconds duration{std::chrono::seconds(60)};
    /// One update in so many is stopped, on average.
    int one_in = 40;
};

struct lost_updates_outcome {
    std::size_t stops = 0;
    std::size_t acknowledged = 0;  ///< updates whose process was told that they are done
    std::size_t unknown = 0;       ///< those that may have been done
    std::size_t refused = 0;
    std::size_t applied = 0;  ///< what the number says in the end
    std::string trouble;      ///< a process that failed

    [[nodiscard]] std::size_t lost() const {
        return acknowledged > applied ? acknowledged - applied : 0;
    }
};

[[nodiscard]] lost_updates_outcome run_lost_updates(const lost_updates_options& options);

/// What a process that updates the number is to do. SIGTERM ends it.
struct updater_order {
    guard by = guard::nothing;
    std::string servers;
    std::string path;  ///< of the lock; the znode is beside it
    std::chrono::milliseconds session_timeout{};
    std::uint64_t seed = 0;
    std::size_t stops = 0;
    int one_in = 1;
    std::string register_socket = {};
    std::string log = {};  ///< a line an update: "acknowledged", "refused" or "unknown"
    int worker = 0;

    [[nodiscard]] auto fields() {
        return std::tie(
            by, servers, path, session_timeout, seed, stops, one_in, register_socket, log, worker);
    }

    [[nodiscard]] std::string znode() const { return path + "-value"; }
};

void run_updater(const updater_order& o);

inline const child_program<updater_order> updater_program{"updater", &run_updater};

}  // namespace latchkey::test

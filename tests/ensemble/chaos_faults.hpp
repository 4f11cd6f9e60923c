#pragma once

#include "chaos_workers.hpp"
#include "fenced_register.hpp"
#include "history.hpp"
#include "real_ensemble.hpp"

#include <chrono>
#include <mutex>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <vector>

namespace latchkey::test {

/// What was broken, and when; from several threads.
class fault_diary {
public:
    void note(history::disturbance d);
    [[nodiscard]] std::vector<history::disturbance> all() const;

private:
    mutable std::mutex mutex_;
    std::vector<history::disturbance> all_;
};

/// Draws what is to be broken, and for how long, from a seed. One thread's.
class dice {
public:
    explicit dice(std::uint64_t seed) : random_(seed) {}

    [[nodiscard]] int below(int limit) {
        return std::uniform_int_distribution<int>(0, limit - 1)(random_);
    }

    [[nodiscard]] std::chrono::milliseconds between(std::chrono::milliseconds low,
                                                    std::chrono::milliseconds high);
    /// Much shorter than the timeout, about as long, or much longer.
    [[nodiscard]] std::chrono::milliseconds around(std::chrono::milliseconds timeout);

private:
    std::mt19937_64 random_;
};

/// Breaks servers and what connects them, one thing at a time, and mends it.
class server_faults {
public:
    server_faults(real_ensemble& servers,
                  fault_diary& diary,
                  std::chrono::milliseconds session_timeout,
                  std::uint64_t seed);

    /// Until `stop` is requested; whole on return.
    void run(const std::stop_token& stop);

private:
    void break_something(const std::stop_token& stop);
    void kill(const std::stop_token& stop, bool leader);
    void pause(const std::stop_token& stop, bool leader);
    void cut_off(const std::stop_token& stop, bool leader);
    void stall_one_way(const std::stop_token& stop);
    void take_the_majority(const std::stop_token& stop);
    void restart_in_turn(const std::stop_token& stop);
    [[nodiscard]] int chosen(bool leader);
    void mend(std::string kind, history::nanoseconds begin, bool killed);

    real_ensemble& servers_;
    fault_diary& diary_;
    std::chrono::milliseconds timeout_;
    dice dice_;
};

/// Breaks workers and their connections, several at a time, and mends them.
class worker_faults {
public:
    worker_faults(chaos_workers& workers,
                  const fenced_register& reg,
                  std::vector<std::string> locks,
                  fault_diary& diary,
                  std::chrono::milliseconds session_timeout,
                  std::uint64_t seed);

    void run(const std::stop_token& stop);

private:
    enum class fault : std::uint8_t {
        kill,
        stop,
        cut,
        black_hole,
        stall,
        slow,
        refuse,
    };

    /// Something broken that is to be mended.
    struct broken {
        std::size_t place;
        fault what;
        history::nanoseconds begin;
        history::nanoseconds until;
    };

    void break_something();
    void do_to(std::size_t place, fault what);
    void mend(const broken& b);
    void mend_what_is_due(history::nanoseconds now);
    [[nodiscard]] std::optional<std::size_t> chosen();

    chaos_workers& workers_;
    const fenced_register& register_;
    std::vector<std::string> locks_;
    fault_diary& diary_;
    std::chrono::milliseconds timeout_;
    dice dice_;
    std::vector<broken> broken_;
};

/// Waits; false when `stop` was requested before the time was over.
bool wait_for(const std::stop_token& stop, std::chrono::milliseconds time);

}  // namespace latchkey::test

#pragma once

#include "chaos_workers.hpp"
#include "fenced_register.hpp"
#include "history.hpp"
#include "real_ensemble.hpp"

#include <chrono>
#include <mutex>
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

    template <class Choices>
    [[nodiscard]] const auto& one_of(const Choices& choices) {
        return choices[static_cast<std::size_t>(below(static_cast<int>(choices.size())))];
    }

    [[nodiscard]] std::chrono::milliseconds between(std::chrono::milliseconds low,
                                                    std::chrono::milliseconds high);
    /// Much shorter than the timeout, about as long, or much longer.
    [[nodiscard]] std::chrono::milliseconds around(std::chrono::milliseconds timeout);

private:
    std::mt19937_64 random_;
};

/// How, and for whom.
struct fault_options {
    fault_diary& diary;
    std::chrono::milliseconds session_timeout;
    dice random;
};

/// Breaks servers and what connects them, one thing at a time, and mends it, until `stop` is
/// requested; whole on return.
void break_servers(real_ensemble& servers, fault_options& o, const std::stop_token& stop);

/// Breaks workers and their connections, several at a time, and mends them; those preferably that
/// hold one of the locks.
void break_workers(chaos_workers& workers,
                   const fenced_register& reg,
                   const std::vector<std::string>& locks,
                   fault_options& o,
                   const std::stop_token& stop);

/// Waits; false when `stop` was requested before the time was over.
bool wait_for(const std::stop_token& stop, std::chrono::milliseconds time);

}  // namespace latchkey::test

#include <latchkey/shared_ref.hpp>

#include "loop/fork_guard.hpp"

#include <thread>

namespace latchkey::inline v0 {

bool fork_aware_lock::lock() noexcept {
    const std::uint64_t here = fork_generation() + 1;
    std::uint64_t by = 0;
    while (!locked_by_.compare_exchange_weak(
        by, here, std::memory_order_acquire, std::memory_order_relaxed)) {
        if (by == here) {
            std::this_thread::yield();  // the other thread may need this processor
            by = 0;
        }  // otherwise a thread of the parent has it, for good: it is taken over
    }
    return by == 0;
}

std::uint64_t fork_aware_lock::generation() noexcept {
    return fork_generation();
}

}  // namespace latchkey::inline v0

#include "loop/fork_guard.hpp"

#include <atomic>

#include <pthread.h>

namespace latchkey::inline v0 {
namespace {

std::atomic<std::uint64_t> generation{0};

extern "C" void count_fork() {
    generation.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

std::uint64_t fork_generation() noexcept {
    // The handler can be missing only if there was no memory for it. A fork is not noticed then.
    static const int registered = ::pthread_atfork(nullptr, nullptr, &count_fork);
    static_cast<void>(registered);
    return generation.load(std::memory_order_relaxed);
}

}  // namespace latchkey::inline v0

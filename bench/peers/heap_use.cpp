// Counts what a process allocates, by functions that stand before those of the C library. The C
// client allocates with malloc(), so counting operator new alone would flatter.
#include "driver.hpp"

#include <atomic>
#include <cstddef>

namespace latchkey::bench {
namespace {

std::atomic<std::size_t> calls{0};
std::atomic<std::size_t> total{0};

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(__GLIBC__)
void count(std::size_t bytes) {
    calls.fetch_add(1, std::memory_order_relaxed);
    total.fetch_add(bytes, std::memory_order_relaxed);
}
#endif

}  // namespace

heap_use heap_use::now() {
    return {calls, total};
}

}  // namespace latchkey::bench

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(__GLIBC__)
extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* old, std::size_t bytes);

void* malloc(std::size_t bytes) {
    latchkey::bench::count(bytes);
    return __libc_malloc(bytes);
}

void* calloc(std::size_t count, std::size_t bytes) {
    latchkey::bench::count(count * bytes);
    return __libc_calloc(count, bytes);
}

void* realloc(void* old, std::size_t bytes) {
    latchkey::bench::count(bytes);
    return __libc_realloc(old, bytes);
}
}
#endif

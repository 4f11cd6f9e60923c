#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

// A program's own operator new, for one source of it to include: the n-th allocation of this thread
// from now on fails, if that is asked for.

namespace {

constexpr int never = -1;
thread_local int allocations_left = never;

}  // namespace

void* operator new(std::size_t size) {
    if (allocations_left == 0) {
        throw std::bad_alloc();
    }
    if (allocations_left > 0) {
        --allocations_left;
    }
    if (void* const p = std::malloc(size == 0 ? 1 : size)) {
        return p;
    }
    throw std::bad_alloc();
}

/// The sanitizers' own form would not fit the deletes below.
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
    try {
        return operator new(size);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

void operator delete(void* p) noexcept {
    std::free(p);
}

void operator delete(void* p, std::size_t /*size*/) noexcept {
    std::free(p);
}

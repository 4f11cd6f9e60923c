#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace latchkey::test {

/// Counts what it has allocated: also what only weak references keep.
template <class T>
struct counting_allocator {
    using value_type = T;

    explicit counting_allocator(std::shared_ptr<long> count) : live(std::move(count)) {}

    template <class U>
    counting_allocator(const counting_allocator<U>& other)
        : live(other.live) {}  // NOLINT: implicit

    [[nodiscard]] T* allocate(std::size_t n) {
        ++*live;
        return std::allocator<T>().allocate(n);
    }

    void deallocate(T* p, std::size_t n) {
        --*live;
        std::allocator<T>().deallocate(p, n);
    }

    template <class U>
    bool operator==(const counting_allocator<U>& other) const noexcept {
        return live == other.live;
    }

    std::shared_ptr<long> live;
};

}  // namespace latchkey::test

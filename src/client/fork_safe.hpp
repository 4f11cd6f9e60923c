#pragma once

#include "client/client_core.hpp"

#include <memory>
#include <utility>

namespace latchkey::inline v0 {

/// The inside of a handle. In a forked child, the end of the handle does not destroy it: the loop
/// that it needs has no thread there. `inside` keeps the core.
template <class T>
[[nodiscard]] std::shared_ptr<T> fork_safe(const client_core& core, std::unique_ptr<T> inside) {
    return std::shared_ptr<T>(inside.release(), [c = &core](T* made) {
        if (!c->forked()) {
            delete made;
        }
    });
}

/// As std::allocator, but does not destroy what it has made in a forked child.
template <class T>
struct fork_safe_allocator : std::allocator<T> {
    explicit fork_safe_allocator(const client_core& c) noexcept : core(&c) {}

    template <class U>
    fork_safe_allocator(const fork_safe_allocator<U>& other) noexcept  // NOLINT: implicit
        : core(other.core) {}

    template <class U>
    struct rebind {
        using other = fork_safe_allocator<U>;
    };

    template <class U>
    void destroy(U* made) const {
        if (!core->forked()) {
            std::destroy_at(made);
        }
    }

    const client_core* core;
};

/// As above, made with `core` as its first argument.
template <class T, class... Args>
[[nodiscard]] std::shared_ptr<T> fork_safe(const std::shared_ptr<client_core>& core,
                                           Args&&... args) {
    return std::allocate_shared<T>(
        fork_safe_allocator<T>(*core), core, std::forward<Args>(args)...);
}

}  // namespace latchkey::inline v0

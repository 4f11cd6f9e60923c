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

/// The same, made with `core` as its first argument.
template <class T, class... Args>
[[nodiscard]] std::shared_ptr<T> fork_safe(const std::shared_ptr<client_core>& core,
                                           Args&&... args) {
    return fork_safe(*core, std::make_unique<T>(core, std::forward<Args>(args)...));
}

}  // namespace latchkey::inline v0

#pragma once

#include "client/client_core.hpp"

#include <memory>
#include <utility>

namespace latchkey {

/// Makes the inside of a handle, with `core` as its first argument. In a forked child, the end of
/// the handle does not destroy it: the loop that it needs has no thread there. `T` keeps the core.
template <class T, class... Args>
[[nodiscard]] std::shared_ptr<T> fork_safe(const std::shared_ptr<client_core>& core,
                                           Args&&... args) {
    return std::shared_ptr<T>(new T(core, std::forward<Args>(args)...), [c = core.get()](T* made) {
        if (!c->forked()) {
            delete made;
        }
    });
}

}  // namespace latchkey

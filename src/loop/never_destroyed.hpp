#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace latchkey {

/// Takes a value over and never destroys it: in a forked child, for what belongs to the parent.
template <class T>
void leave_undestroyed(T value) noexcept {
    alignas(T) std::byte place[sizeof(T)];
    ::new (static_cast<void*>(place)) T(std::move(value));
}

}  // namespace latchkey

#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace latchkey::inline v0 {

/// Takes a value and never destroys it: for what belongs to the parent, in a forked child.
template <class T>
void leave_undestroyed(T value) noexcept {
    alignas(T) std::byte place[sizeof(T)];
    ::new (static_cast<void*>(place)) T(std::move(value));
}

}  // namespace latchkey::inline v0

#pragma once

#include "loop/loop.hpp"

#include <cstdint>
#include <memory>

namespace latchkey {

/// Waits until a descriptor, which it owns, is ready. On the loop only.
class descriptor_watch {
public:
    enum class direction : std::uint8_t { read, write };

    descriptor_watch() = default;
    descriptor_watch(const descriptor_watch&) = delete;
    descriptor_watch& operator=(const descriptor_watch&) = delete;
    /// Closes the descriptor; nothing is called from then on.
    virtual ~descriptor_watch() = default;

    [[nodiscard]] virtual int descriptor() const noexcept = 0;

    /// Runs `ready` once, as a task of the loop, when reading or writing would not block. It takes
    /// the place of what was awaited before in that direction; none: nothing is.
    virtual void await(direction d, loop::task ready) = 0;
};

/// A loop that waits on descriptors as well: what the adapter to the C client runs on.
class io_loop : public loop {
public:
    /// Takes the descriptor over. Throws std::system_error. On the loop only; the watch must not
    /// outlive the loop.
    [[nodiscard]] virtual std::unique_ptr<descriptor_watch> watch(int descriptor) = 0;
};

}  // namespace latchkey

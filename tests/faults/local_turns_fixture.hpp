#pragma once

#include "lock_fixture.hpp"

#include <string>

namespace latchkey::test {

/// A client whose callers take turns, and another participant.
class LocalTurns : public LockFaults {
protected:
    /// A lock that `m` has kept after its release, as it is when nothing is on its way any more.
    std::string retained(mutex& m) {
        hold h = held(m);
        const std::string path = h.path();
        settle();
        h.release();
        settle();
        return path;
    }

    [[nodiscard]] bool is_free() const { return in_queue() == 0; }
};

}  // namespace latchkey::test

#pragma once

#include <latchkey/mutex.hpp>

#include "stepped_test.hpp"

#include <string>

namespace latchkey::test {

/// A client whose callers take turns, and another participant.
class LocalTurns : public SteppedTest {
protected:
    client a_ = connected();
    client b_ = connected();
    mutex theirs_{b_, "/lock"};

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

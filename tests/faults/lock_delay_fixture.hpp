#pragma once

#include <latchkey/mutex.hpp>
#include <latchkey/shared_mutex.hpp>

#include "lock_fixture.hpp"

#include <memory>

namespace latchkey::test {

/// A lock whose first holder has a delay, and two clients that come after it.
class LockDelay : public LockFaults {
protected:
    static constexpr auto delay = 5s;

    /// Of the session of a_; returns when.
    ensemble::duration die() {
        ensemble_.expire(a_.session_id());
        return ensemble_.now();
    }

    /// It takes the delay, by the clock of the one that waits, and a few messages.
    void expect_delayed(const std::shared_ptr<attempt>& next, ensemble::duration since) {
        expect_granted(next);
        EXPECT_GE(next->at - since, delay);
        EXPECT_LE(next->at - since, delay + 10 * round_trip);
    }

    void expect_at_once(const std::shared_ptr<attempt>& next, ensemble::duration since) {
        expect_granted(next);
        EXPECT_LE(next->at - since, 10 * round_trip);
    }

    mutex mine_{a_, "/lock", {.lock_delay = delay}};
};

class SharedLockDelay : public LockDelay {
protected:
    using enum lock_mode;

    shared_mutex mine_{a_, "/shared", {.lock_delay = delay}};
    shared_mutex theirs_{b_, "/shared"};
    shared_mutex third_{c_, "/shared"};
};

}  // namespace latchkey::test

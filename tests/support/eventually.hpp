#pragma once

#include "patience.hpp"

#include <chrono>
#include <thread>

namespace latchkey::test {

/// Waits until `condition()` is true; false when it was not within `limit`, which is generous and
/// grows with the load of the machine (`patience`): it decides how long a failure takes, never how
/// long a success does.
template <class Condition>
[[nodiscard]] bool eventually(Condition condition,
                              std::chrono::milliseconds limit = std::chrono::seconds(30)) {
    patience patient(limit);
    while (!condition()) {
        if (patient.ended()) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
}

/// Spends time as a program does with its own work. A test must not depend on how long that is: one
/// that waits for something waits eventually().
inline void work_for(std::chrono::nanoseconds time) {
    std::this_thread::sleep_for(time);
}

}  // namespace latchkey::test

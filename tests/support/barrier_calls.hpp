#pragma once

#include <latchkey/double_barrier.hpp>
#include <latchkey/ensemble.hpp>

#include "stepped_outcome.hpp"

#include <chrono>
#include <memory>

namespace latchkey::test {

/// Enters without a limit.
[[nodiscard]] inline std::shared_ptr<outcome> enter(double_barrier& b,
                                                    const testing::ensemble& in) {
    auto o = std::make_shared<outcome>();
    b.async_enter(std::chrono::nanoseconds::max(), {}, outcome::into(o, in));
    return o;
}

/// Leaves without a limit.
[[nodiscard]] inline std::shared_ptr<outcome> leave(double_barrier& b,
                                                    const testing::ensemble& in) {
    auto o = std::make_shared<outcome>();
    b.async_leave(std::chrono::nanoseconds::max(), {}, outcome::into(o, in));
    return o;
}

}  // namespace latchkey::test

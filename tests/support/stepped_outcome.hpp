#pragma once

#include <latchkey/ensemble.hpp>

#include <functional>
#include <memory>
#include <system_error>

namespace latchkey::test {

/// What an asynchronous call that is passed or not came to, and when.
struct outcome {
    bool done = false;
    std::error_code ec;
    bool passed = false;
    testing::ensemble::duration at{};

    /// A handler that notes it down.
    [[nodiscard]] static std::function<void(std::error_code, bool)> into(
        const std::shared_ptr<outcome>& o, const testing::ensemble& in) {
        return [o, &in](std::error_code error, bool was_passed) {
            o->done = true;
            o->ec = error;
            o->passed = was_passed;
            o->at = in.now();
        };
    }
};

}  // namespace latchkey::test

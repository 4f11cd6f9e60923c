#pragma once

#include <latchkey/participant.hpp>

#include <functional>
#include <stop_token>

namespace latchkey {

/// What a single acquire may be given.
struct acquire_options {
    /// Leaves the queue when requested; the result is an empty hold.
    std::stop_token stop = {};

    /// Told on the callback thread when the place in the queue is reserved, and again whenever it
    /// had to be reserved anew after a loss of the session. Not told by try_acquire().
    std::function<void(const place&)> reserved = {};
};

}  // namespace latchkey

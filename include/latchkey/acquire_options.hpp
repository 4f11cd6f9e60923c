#pragma once

#include <latchkey/participant.hpp>

#include <functional>
#include <stop_token>

namespace latchkey::inline v0 {

/// Options of a single acquire.
struct acquire_options {
    /// A stop request cancels the acquire: it leaves the queue and returns an empty hold, also
    /// if no server was reached.
    std::stop_token stop = {};

    /// Called on the client's callback thread when the participant has its place in the queue, and
    /// again each time it has joined anew after a lost session. try_acquire() does not call it.
    std::function<void(const queue_position&)> reserved = {};
};

}  // namespace latchkey::inline v0

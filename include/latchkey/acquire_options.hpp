#pragma once

#include <latchkey/option.hpp>
#include <latchkey/participant.hpp>

#include <functional>
#include <stop_token>

namespace latchkey::inline v0 {

/// Options of a single acquire.
struct acquire_options {
    /// A stop request cancels the acquire: it leaves the queue and returns an empty hold, also
    /// if no server was reached.
    option<std::stop_token> stop = {};

    /// Called on the client's callback thread when the participant has its place in the queue, and
    /// again each time it has joined anew after a lost session. try_acquire() does not call it.
    option<std::function<void(const queue_position&)>> reserved = {};

    ~acquire_options() {
        stop.drop();
        reserved.drop();
    }
};

}  // namespace latchkey::inline v0

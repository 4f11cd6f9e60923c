#pragma once

#include <latchkey/client.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/participant.hpp>

#include "lock_options.hpp"

#include <functional>
#include <stop_token>
#include <string>

namespace latchkey::cli {

/// What came of trying to get the lock.
struct attempt_result {
    hold granted;              ///< empty: not acquired
    int status = 0;            ///< then the exit status
    std::string message = {};  ///< and why; empty where the status says it all
};

/// Called on the client's callback thread.
using place_listener = std::function<void(const place&)>;

/// Connects and acquires as the options say; blocks. Everything that goes wrong is told in the
/// result. When `stop` is requested it leaves the queue and returns an empty result.
[[nodiscard]] attempt_result attempt(client& c,
                                     const lock_options& options,
                                     std::stop_token stop,
                                     place_listener reserved);

}  // namespace latchkey::cli

#pragma once

#include "loop/io_loop.hpp"

#include <chrono>
#include <functional>
#include <memory>

namespace latchkey::inline v0 {

/// Ends the session of an established connection on the servers. Nothing else may use the
/// connection any more. Sends the request, waits until the server hangs up or `limit` has passed,
/// drops the connection, and calls `done` on the loop. The C client could do this only by blocking
/// its thread.
void close_session(loop& l,
                   std::unique_ptr<descriptor_watch> connection,
                   std::chrono::milliseconds limit,
                   std::function<void()> done);

}  // namespace latchkey::inline v0

#pragma once

#include <functional>

#include <boost/thread/thread.hpp>

namespace latchkey {

/// Starts a thread of the library. All signals are blocked in it, so that they go to the threads of
/// the program. Tools show the thread as `name` (at most 15 characters). Throws latchkey::error if
/// the thread cannot be started.
[[nodiscard]] boost::thread start_background_thread(const char* name, std::function<void()> body);

}  // namespace latchkey

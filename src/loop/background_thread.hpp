#pragma once

#include <functional>

#include <boost/thread/thread.hpp>

namespace latchkey {

/// Starts a thread of the library's own: all signals are blocked in it, so that they go to the
/// threads of the program, and tools show it as `name` (at most 15 characters). Throws
/// latchkey::error if there can be no further thread.
[[nodiscard]] boost::thread start_background_thread(const char* name, std::function<void()> body);

}  // namespace latchkey

#pragma once

#include <latchkey/export.hpp>

#include <functional>

#include <boost/thread/thread.hpp>

namespace latchkey::inline v0 {

/// Starts a thread of the library. All signals are blocked in it, so that they go to the threads of
/// the program. Tools show the thread as `name` (at most 15 characters). Throws latchkey::error if
/// the thread cannot be started.
[[nodiscard]] LATCHKEY_EXPORT_FOR_TESTING boost::thread start_background_thread(
    const char* name, std::function<void()> body);

}  // namespace latchkey::inline v0

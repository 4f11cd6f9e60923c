#pragma once

#include <functional>

namespace latchkey {

/// Runs code of the user that was handed to a callback executor. A blocking call made there, of any
/// client, could wait for itself.
void run_user_code(const std::function<void()>& code);

/// Whether the calling thread is in run_user_code().
[[nodiscard]] bool in_user_code() noexcept;

}  // namespace latchkey

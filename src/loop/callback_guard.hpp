#pragma once

#include <functional>
#include <string_view>

namespace latchkey {

/// Runs code of the user that was handed to a callback executor. A blocking call made there, of any
/// client, could wait for itself. What the code throws ends here, as a line to `log` if there is
/// one. What it captured is destroyed here too.
void run_callback(std::function<void()> code,
                  const std::function<void(std::string_view)>& log) noexcept;

/// Whether the calling thread is in run_callback().
[[nodiscard]] bool in_callback() noexcept;

}  // namespace latchkey

#pragma once

#include <latchkey/function.hpp>

#include <functional>
#include <string_view>

namespace latchkey::inline v0 {

/// Runs code of the user on a callback executor. Blocking calls of any client are refused there,
/// because they could wait for themselves. An exception ends here, as a line to `log` if there is
/// one. What the code has captured is destroyed here too.
void run_callback(move_only_function<void()> code,
                  const std::function<void(std::string_view)>& log) noexcept;

/// Whether the calling thread is in run_callback().
[[nodiscard]] bool in_callback() noexcept;

}  // namespace latchkey::inline v0

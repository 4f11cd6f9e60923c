#pragma once

#include "lock_options.hpp"
#include "undertaking.hpp"

namespace latchkey::cli {

/// To run a command under a lock. `options` outlives it.
[[nodiscard]] undertaking to_lock(const lock_options& options);

}  // namespace latchkey::cli

#pragma once

#include "lock_options.hpp"
#include "run_kind.hpp"

namespace latchkey::cli {

/// To run a command under a lock. `options` outlives it.
[[nodiscard]] run_kind to_lock(const lock_options& options);

}  // namespace latchkey::cli

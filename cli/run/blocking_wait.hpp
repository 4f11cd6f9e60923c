#pragma once

#include <latchkey/client.hpp>

#include "options/run_options.hpp"
#include "output/status_output.hpp"

#include <functional>
#include <stop_token>

namespace latchkey::cli {

/// Connects, and makes one call that blocks on a thread of its own. Meanwhile reports trouble with
/// the connection, shows the line of a wait on a terminal, and lets signals end the call. Returns 0
/// if the call has returned true, 1 for false, and 128+N for signal N. Throws what the call throws.
/// To be called before the process has any thread.
[[nodiscard]] int wait_beside_signals(
    const program_options& options,
    const status_output& output,
    const std::function<bool(const client& c, const std::stop_token& stop)>& call);

}  // namespace latchkey::cli

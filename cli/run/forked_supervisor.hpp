#pragma once

#include "options/run_options.hpp"
#include "output/signals.hpp"
#include "output/status_output.hpp"
#include "supervisor/supervisor.hpp"

#include <memory>

namespace latchkey::cli {

/// Forks the supervisor of the command; null if there is none to run. Removes the credentials from
/// the supervisor's environment unless --pass-auth asks for them. To be called before the process
/// reads credentials, which would be in the supervisor's memory too, and before it has any thread.
/// Throws std::system_error.
[[nodiscard]] std::unique_ptr<supervisor> forked_supervisor(const run_options& options,
                                                            const signals& inherited,
                                                            const status_output& output);

}  // namespace latchkey::cli

#pragma once

#include <latchkey/client.hpp>

#include "options/run_options.hpp"
#include "output/status_output.hpp"

namespace latchkey::cli {

/// How the client of a command connects. `output` must outlive the client. Throws usage_error.
[[nodiscard]] client_options client_options_of(const program_options& options,
                                               const status_output& output);

/// How the client of a command that runs another one connects. Afterwards LATCHKEY_AUTH is out of
/// the environment, unless --pass-auth asks for it. To be called before the process has any thread.
[[nodiscard]] client_options client_options_for_run(const run_options& options,
                                                    const status_output& output);

}  // namespace latchkey::cli

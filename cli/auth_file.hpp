#pragma once

#include <latchkey/client.hpp>

#include "run_options.hpp"

#include <string>
#include <vector>

namespace latchkey::cli {

/// From the file of --auth-file, else from LATCHKEY_AUTH, else none. Never from the command line,
/// which everybody on the machine can read.
///
/// A line is a scheme and its secret, for example "digest user:password"; lines that are empty or
/// begin with '#' are skipped. The file must be a regular one, no symbolic link, belong to this
/// user or root, and be closed to others. Throws usage_error, which never quotes a secret.
[[nodiscard]] std::vector<credentials> read_credentials(const program_options& options,
                                                        const environment_lookup& environment);

/// Removes LATCHKEY_AUTH from this process's environment, where it is overwritten (/proc shows it),
/// and so from that of all processes it starts.
void forget_credentials();

}  // namespace latchkey::cli

#pragma once

#include <latchkey/client.hpp>

#include "options/run_options.hpp"

#include <string>
#include <vector>

namespace latchkey::cli {

/// Reads the file of --auth-file, else LATCHKEY_AUTH, else nothing. No secret comes from the
/// command line, which every user of the machine can read.
///
/// A line is a scheme and its secret, for example "digest user:password". Empty lines and lines
/// that begin with '#' are skipped. secret_text::read() says which files it takes. Throws
/// usage_error, which never quotes a secret.
[[nodiscard]] std::vector<credentials> read_credentials(const program_options& options,
                                                        const environment_lookup& environment);

/// Whether LATCHKEY_AUTH has anything. Leaves no copy of it in memory.
[[nodiscard]] bool has_credentials(const environment_lookup& environment);

/// Removes LATCHKEY_AUTH from this process's environment, and so from that of all processes it
/// starts. Overwrites the value, which /proc shows.
void forget_credentials();

}  // namespace latchkey::cli

#pragma once

#include <latchkey/client.hpp>

#include "run_kind.hpp"
#include "run_options.hpp"
#include "status_output.hpp"

#include <functional>
#include <optional>
#include <string>

namespace latchkey::cli {

/// getenv().
[[nodiscard]] std::optional<std::string> environment(const char* name);

/// One of the program's commands: runs it, and tells on stderr what it throws; the exit status.
/// `json` is read when that happens.
[[nodiscard]] int exit_status_of(const bool& json, const std::function<int()>& command);

/// Prints what was asked for instead.
[[nodiscard]] int print_help(const help_text& help);

/// How a client connects for the program.
[[nodiscard]] client_options client_options_of(const program_options& options,
                                               const status_output& told);

/// Runs options.command under what `what` gets, or gets it and shows it. To be called before the
/// process has any thread.
[[nodiscard]] int run_command(const run_options& options, const run_kind& what);

}  // namespace latchkey::cli

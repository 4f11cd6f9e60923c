#pragma once

#include "program_options.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace latchkey::cli {

/// What the commands are asked besides that run something.
struct run_options : program_options {
    std::vector<std::string> paths;    ///< if there are several; `path` shows them all then
    std::vector<std::string> command;  ///< empty: none is run
    std::optional<std::chrono::nanoseconds> grace;
    bool pass_auth = false;  ///< the command may have LATCHKEY_AUTH
};

/// Their options, as written.
class run_words {
public:
    /// `options` outlives the parser.
    void declare(option_parser& parser, run_options& options);

    /// Judges them when all are read. Throws usage_error.
    void judge(run_options& options, const environment_lookup& environment) const;

private:
    program_words program_;
    std::optional<std::string> grace_;
};

/// The words that follow what the command is run under: "--" and the command, -c and a string, the
/// command, or nothing. Throws usage_error.
[[nodiscard]] std::vector<std::string> command_from(std::vector<std::string> words,
                                                    const environment_lookup& environment);

/// How long before the deadline the command is told to end, for a session timeout T as negotiated:
/// what was asked for (throws usage_error if that is longer than T/4), else T/20, at most 2 s. Not
/// more, because a client that hears nothing from its server moves to another one only after 5/12
/// of T, a hold that follows a silence is believed for T/2 at first, and what is saved by that move
/// must not have cost the command its life.
[[nodiscard]] std::chrono::nanoseconds grace_within(const run_options& options,
                                                    std::chrono::milliseconds session_timeout);

}  // namespace latchkey::cli

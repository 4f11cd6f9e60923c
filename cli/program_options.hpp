#pragma once

#include "option_parser.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace latchkey::cli {

/// What all of the program's commands are asked, checked as far as it can be without a server.
struct program_options {
    std::string servers;
    std::string path;
    std::chrono::milliseconds session_timeout{10'000};
    std::optional<std::string> auth_file;
    bool verbose = false;
    bool json = false;
};

/// Asked for instead: print it on stdout.
struct help_text {
    std::string text;
};

/// A variable of the environment; nullopt if it is not set.
using environment_lookup = std::function<std::optional<std::string>(const char* name)>;

/// The options of them all, as written.
class program_words {
public:
    /// `options` outlives the parser.
    void declare(option_parser& parser, program_options& options);

    /// Judges them when all are read. Throws usage_error.
    void judge(program_options& options, const environment_lookup& environment) const;

private:
    std::optional<std::string> servers_;
    std::optional<std::string> session_timeout_;
};

}  // namespace latchkey::cli

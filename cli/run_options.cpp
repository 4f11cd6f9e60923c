#include "run_options.hpp"

#include "duration_text.hpp"
#include "usage_error.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace latchkey::cli {

namespace {

std::vector<std::string> shell_command(const std::vector<std::string>& words,
                                       const environment_lookup& environment) {
    if (words.size() != 2) {
        throw usage_error(
            fmt::format("{}: takes exactly one argument, the command line for the shell, not {}; "
                        "quote it",
                        words[0],
                        words.size() - 1));
    }
    const auto shell = environment("SHELL");
    return {shell && !shell->empty() ? *shell : "/bin/sh", "-c", words[1]};
}

}  // namespace

void run_words::declare(option_parser& parser, run_options& options) {
    program_.declare(parser, options);
    parser.value("--grace", grace_);
    parser.flag("--pass-auth", options.pass_auth);
}

void run_words::judge(run_options& options, const environment_lookup& environment) const {
    program_.judge(options, environment);
    if (grace_) {
        options.grace = parse_seconds("--grace", *grace_);
    }
    static_cast<void>(grace_within(options, options.session_timeout));
}

std::vector<std::string> command_from(std::vector<std::string> words,
                                      const environment_lookup& environment) {
    if (words.empty()) {
        return {};
    }
    if (asks_for_shell(words.front())) {
        return shell_command(words, environment);
    }
    if (words.front() == "--") {
        words.erase(words.begin());
        if (words.empty()) {
            throw usage_error("no command after '--'; leave '--' out to hold the lock without one");
        }
    }
    if (words.front().empty()) {
        throw usage_error("the command is an empty word");
    }
    return words;
}

std::chrono::nanoseconds grace_within(const run_options& options,
                                      std::chrono::milliseconds session_timeout) {
    if (!options.grace) {
        return std::min<std::chrono::nanoseconds>(session_timeout / 20, std::chrono::seconds(2));
    }
    if (*options.grace > session_timeout / 4) {
        const bool negotiated = session_timeout != options.session_timeout;
        throw usage_error(
            fmt::format("--grace: {} is longer than a quarter of the session timeout of {}{}; give "
                        "at most {}, or "
                        "a longer -t",
                        in_seconds(*options.grace),
                        in_seconds(session_timeout),
                        negotiated ? " that the servers granted" : "",
                        in_seconds(session_timeout / 4)));
    }
    return *options.grace;
}

}  // namespace latchkey::cli

#include "run_options.hpp"

#include "printable.hpp"
#include "seconds.hpp"
#include "usage_error.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace latchkey::cli {

namespace {

std::string servers_from(const std::optional<std::string>& given,
                         const environment_lookup& environment) {
    if (given) {
        return *given;
    }
    for (const char* name : {"LATCHKEY_SERVERS", "ZK_HOSTS"}) {
        if (auto value = environment(name); value && !value->empty()) {
            return *value;
        }
    }
    throw usage_error(
        "no servers: give -z host:port,... or set LATCHKEY_SERVERS (or ZK_HOSTS) in the "
        "environment");
}

std::chrono::milliseconds session_timeout_from(const std::string& text) {
    // What the protocol can carry.
    constexpr std::chrono::milliseconds most{std::numeric_limits<std::int32_t>::max()};
    const auto asked = parse_seconds("-t/--session-timeout", text);
    if (asked < std::chrono::milliseconds(1)) {
        throw usage_error(fmt::format(
            "-t/--session-timeout: '{}' is too short; servers grant at least two of their ticks, "
            "usually 4 s",
            printable(text)));
    }
    return std::min(std::chrono::ceil<std::chrono::milliseconds>(asked), most);
}

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
    parser.value("-z,--servers", servers_);
    parser.value("-t,--session-timeout", session_timeout_);
    parser.value("--grace", grace_);
    parser.value("--auth-file", options.auth_file);
    parser.flag("--verbose", options.verbose);
    parser.flag("--json", options.json);
}

void run_words::judge(run_options& options, const environment_lookup& environment) const {
    if (session_timeout_) {
        options.session_timeout = session_timeout_from(*session_timeout_);
    }
    if (grace_) {
        options.grace = parse_seconds("--grace", *grace_);
    }
    static_cast<void>(grace_within(options, options.session_timeout));
    options.servers = servers_from(servers_, environment);
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

#include "program_options.hpp"

#include "duration_text.hpp"
#include "text/escape.hpp"
#include "usage_error.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

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
            escaped(text)));
    }
    return std::min(std::chrono::ceil<std::chrono::milliseconds>(asked), most);
}

}  // namespace

void program_words::declare(option_parser& parser, program_options& options) {
    parser.value("-z,--servers", servers_);
    parser.value("-t,--session-timeout", session_timeout_);
    parser.value("--auth-file", options.auth_file);
    parser.flag("--verbose", options.verbose);
    parser.flag("--json", options.json);
}

void program_words::judge(program_options& options, const environment_lookup& environment) const {
    if (session_timeout_) {
        options.session_timeout = session_timeout_from(*session_timeout_);
    }
    options.servers = servers_from(servers_, environment);
}

}  // namespace latchkey::cli

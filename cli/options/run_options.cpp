#include "options/run_options.hpp"

#include <latchkey/error.hpp>

#include "datagram/datagram_address.hpp"
#include "options/acl_text.hpp"
#include "options/auth_file.hpp"
#include "options/duration_text.hpp"
#include "options/shared_options.hpp"
#include "output/exit_status.hpp"
#include "supervisor/kill_schedule.hpp"
#include "text/escape.hpp"
#include "text/white_space.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace latchkey::cli {

namespace {

/// An option for TLS: where its value is kept, and its name.
struct tls_option {
    std::string tls_options::*where;
    const char* name;
};

constexpr std::array<tls_option, 4> tls_option_names{
    {{&tls_options::ca_file, "--tls-ca"},
     {&tls_options::certificate_file, "--tls-cert"},
     {&tls_options::key_file, "--tls-key"},
     {&tls_options::server_name, "--tls-name"}}};

/// Without --tls-ca it would be clear text.
void check_tls(const tls_options& tls) {
    for (const auto& one : tls_option_names) {
        if (tls.ca_file.empty() && !(tls.*one.where).empty()) {
            throw usage_error(fmt::format(
                "{} '{}' needs --tls-ca: give the certificate of the authority that signs for the "
                "servers, or set LATCHKEY_TLS_CA",
                one.name,
                escaped(tls.*one.where)));
        }
    }
    if (tls.certificate_file.empty() && !tls.key_file.empty()) {
        throw usage_error(fmt::format("--tls-key '{}' needs --tls-cert, the certificate of the key",
                                      escaped(tls.key_file)));
    }
}

/// A variable that is set, and not to white space alone.
std::optional<setting> set_in(const environment_lookup& environment, const std::string& variable) {
    const auto value = environment(variable.c_str());
    const auto text = trimmed(value ? *value : std::string_view());
    return text.empty() ? std::nullopt : std::optional(setting{std::string(text), variable});
}

/// Other tools know the servers by ZK_HOSTS.
std::optional<setting> variable_for(std::string_view name, const environment_lookup& environment) {
    auto found = set_in(environment, variable_of(name));
    return found || name != "servers" ? found : set_in(environment, "ZK_HOSTS");
}

/// What the files say that --config or LATCHKEY_CONFIG names, else the usual ones. An empty name:
/// none.
config configuration(const program_options& options, const environment_lookup& environment) {
    config all(configurable_names());
    const auto named = options.config_file ? options.config_file : environment("LATCHKEY_CONFIG");
    if (named) {
        if (const auto file = trimmed(*named); !file.empty()) {
            all.read(std::string(file));
        }
    } else {
        for (const std::string& file : usual_config_files(environment)) {
            if (::access(file.c_str(), F_OK) == 0) {
                all.read(file);
            }
        }
    }
    all.choose_profile(options.profile ? setting{*options.profile, "--profile"}
                                       : set_in(environment, "LATCHKEY_PROFILE"));
    return all;
}

std::chrono::milliseconds session_timeout_from(const std::string& text) {
    // The protocol has 32 bits for it.
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

std::vector<std::string> datagram_addresses_in(const std::string& text) {
    std::vector<std::string> all;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        all.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    try {
        (void)parse_datagram_addresses(all);
    } catch (const error& e) {
        throw usage_error(fmt::format("--direct: {}", e.what()));
    }
    return all;
}

server_preference preference_from(const std::string& text) {
    constexpr std::array<std::pair<std::string_view, server_preference>, 3> known{
        {{"any", server_preference::any},
         {"leader", server_preference::leader},
         {"near", server_preference::near}}};
    for (const auto& [name, preference] : known) {
        if (text == name) {
            return preference;
        }
    }
    throw usage_error(fmt::format("--prefer: '{}' is not any, leader or near", escaped(text)));
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

std::optional<std::string> environment_variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

void program_options::take(const command_line& line, const environment_lookup& environment) {
    config_file = line.text("--config");
    profile = line.text("--profile");
    verbose = line.has("--verbose");
    json = line.has("--json");
    std::optional<config> files;
    for (const auto name : configurable_names()) {
        const auto option = fmt::format("--{}", name);
        if (line.syntax->option(option) == nullptr) {
            continue;
        }
        if (const auto* const text = line.value(option)) {
            take_setting(name, *text);
            continue;
        }
        auto found = variable_for(name, environment);
        if (!found && !files) {
            files = configuration(*this, environment);
        }
        // The secret itself says more than the name of a file with another one.
        if (!found && (name != "auth-file" || !has_credentials(environment))) {
            found = files->find(name);
        }
        if (found && !found->text.empty()) {
            try {
                take_setting(name, found->text);
            } catch (const usage_error& e) {
                throw usage_error(fmt::format("{}: {}", found->source, e.what()));
            }
        }
    }
}

void program_options::take_setting(std::string_view name, const std::string& text) {
    if (name == "servers") {
        servers = text;
    } else if (name == "session-timeout") {
        session_timeout = session_timeout_from(text);
    } else if (name == "auth-file") {
        auth_file = text;
    } else if (name == "acl") {
        access = parse_acl(text);
    } else if (name == "direct") {
        direct = datagram_addresses_in(text);
    } else if (name == "prefer") {
        prefer = preference_from(text);
    }
    for (const auto& one : tls_option_names) {
        if (name == one.name + 2) {
            if (text.empty()) {
                throw usage_error(fmt::format("{}: is empty; leave it out", one.name));
            }
            tls.*one.where = text;
        }
    }
}

void program_options::check() const {
    if (servers.empty()) {
        throw usage_error(
            "no servers: give -z host:port,..., set LATCHKEY_SERVERS (or ZK_HOSTS) in the "
            "environment, or servers in a configuration file");
    }
    check_tls(tls);
}

void run_options::take(const command_line& line, const environment_lookup& environment) {
    program_options::take(line, environment);
    grace = line.seconds("--grace");
    pass_auth = line.has("--pass-auth");
    quiet = line.has("--quiet");
}

void run_options::take_hold(const command_line& line) {
    max_hold = line.seconds("--max-hold");
    min_hold = line.seconds("--min-hold");
    once_per = line.seconds("--once-per");
    on_lost = line.text("--on-lost");
    audit = line.text("--audit");
    metrics_file = line.text("--metrics-file");
}

void run_options::check() const {
    program_options::check();
    if (quiet && verbose) {
        throw usage_error("-q and --verbose: one says less, the other one more; leave one out");
    }
    check_hold();
}

void run_options::check_hold() const {
    const auto least = std::max<std::chrono::nanoseconds>(grace_within(*this, session_timeout),
                                                          2 * kill_schedule::safety);
    if (max_hold && *max_hold <= least) {
        throw usage_error(
            fmt::format("--max-hold: {} is too short for a command that has {} to end; give more, "
                        "or a shorter --grace",
                        in_seconds(*max_hold),
                        in_seconds(least)));
    }
    if (max_hold && min_hold && *max_hold < *min_hold) {
        throw usage_error(fmt::format("--max-hold {} is shorter than --min-hold {}",
                                      in_seconds(*max_hold),
                                      in_seconds(*min_hold)));
    }
    if (once_per == std::chrono::nanoseconds::zero()) {
        throw usage_error("--once-per: a time of zero prevents nothing; leave it out");
    }
    if (on_lost && on_lost->empty()) {
        throw usage_error("--on-lost: the command is empty; leave it out");
    }
    for (const auto& [given, name] :
         {std::pair(min_hold.has_value(), "--min-hold"), {once_per.has_value(), "--once-per"}}) {
        if (given && command.empty()) {
            throw usage_error(
                fmt::format("{}: there is no command; give one, or leave it out", name));
        }
    }
}

status_output run_options::output() const {
    using volume = status_output::volume;
    return {quiet ? volume::quiet : verbose ? volume::verbose : volume::normal, json};
}

std::vector<std::string> command_from(std::vector<std::string> words,
                                      const environment_lookup& environment) {
    if (words.empty()) {
        return {};
    }
    if (asks_for_shell(words.front())) {
        return shell_command(words, environment);
    }
    if (words.front().size() > 1 && words.front().front() == '-' && words.front() != "--") {
        throw usage_error(fmt::format(
            "'{}' after PATH: options come before it. If it is the command, write -- before it",
            escaped(words.front())));
    }
    drop_double_dash(words);
    if (words.empty()) {
        throw usage_error("no command after '--'; leave '--' out to hold the lock without one");
    }
    if (words.front().empty()) {
        throw usage_error("the command is an empty word; give the name of a program");
    }
    return words;
}

std::chrono::nanoseconds grace_within(const run_options& options,
                                      std::chrono::milliseconds session_timeout) {
    if (!options.grace) {
        const auto usual =
            std::min<std::chrono::nanoseconds>(session_timeout / 20, std::chrono::seconds(2));
        return options.max_hold ? std::min(usual, *options.max_hold / 2) : usual;
    }
    if (*options.grace > session_timeout / 4) {
        const bool negotiated = session_timeout != options.session_timeout;
        throw usage_error(
            fmt::format("--grace: {} is longer than a quarter of the session timeout of {}{}; give "
                        "at most {}, or a longer -t",
                        in_seconds(*options.grace),
                        in_seconds(session_timeout),
                        negotiated ? " that the servers granted" : "",
                        in_seconds(session_timeout / 4)));
    }
    return *options.grace;
}

}  // namespace latchkey::cli

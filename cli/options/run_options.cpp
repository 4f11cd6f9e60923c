#include "options/run_options.hpp"

#include "options/acl_text.hpp"
#include "options/auth_file.hpp"
#include "options/duration_text.hpp"
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

constexpr std::array<std::string_view, 8> shared_names{
    "servers", "session-timeout", "auth-file", "tls-ca", "tls-cert", "tls-key", "tls-name", "acl"};

constexpr std::string_view acl_help =
    R"(      --acl LIST             who may do what with the znodes that it creates:
                             creator, open, or entries SCHEME:ID:PERMISSIONS
                             with semicolons between them (default: creator if
                             there are credentials or a certificate, else open)
)";

constexpr std::string_view pass_auth_help =
    R"(      --pass-auth            leave LATCHKEY_AUTH in the environment of CMD.
                             Without this option it is removed
)";

constexpr std::string_view audit_help =
    R"(      --audit FILE           append a line to FILE for each grant, release and
                             loss, as a JSON object. "syslog" sends them to
                             syslog (facility auth)
      --metrics-file FILE    write metrics to FILE, for the textfile collector
                             of Prometheus' node_exporter
)";

constexpr std::string_view servers_help =
    R"(  -z, --servers HOSTS        host:port,host:port,...[/chroot]
                             (default: $LATCHKEY_SERVERS, else $ZK_HOSTS)
)";

constexpr std::string_view credentials_help =
    R"(      --auth-file FILE       lines "digest USER:PASSWORD". FILE must not be
                             accessible to other users (default: the line in
                             $LATCHKEY_AUTH)
      --tls-ca FILE          encrypt with TLS. FILE (PEM) has the certificate of
                             the authority that signs for the servers
                             (default: $LATCHKEY_TLS_CA, else clear text)
      --tls-cert FILE        the certificate of this client
                             ($LATCHKEY_TLS_CERT)
      --tls-key FILE         its private key ($LATCHKEY_TLS_KEY, else in the
                             file of --tls-cert)
      --tls-name NAME        the name that the servers' certificates are for, if
                             it is not that in -z ($LATCHKEY_TLS_NAME)
      --config FILE          read FILE (TOML) for options that are neither given
                             here nor in the environment (default:
                             $LATCHKEY_CONFIG, else ~/.config/latchkey.toml and
                             /etc/latchkey.toml)
      --profile NAME         use the settings of profiles.NAME in it
                             ($LATCHKEY_PROFILE)
)";

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

bool is_shared(std::string_view name) {
    return std::find(shared_names.begin(), shared_names.end(), name) != shared_names.end();
}

/// A variable that is set, and not to white space alone.
std::optional<setting> set_in(const environment_lookup& environment, const std::string& variable) {
    const auto value = environment(variable.c_str());
    const auto text = trimmed(value ? *value : std::string_view());
    return text.empty() ? std::nullopt : std::optional(setting{std::string(text), variable});
}

/// "LATCHKEY_TLS_CA" for "tls-ca". Other tools know the servers by ZK_HOSTS.
std::optional<setting> variable_for(std::string_view name, const environment_lookup& environment) {
    std::string variable = "LATCHKEY_";
    for (const char c : name) {
        variable += c == '-' ? '_' : static_cast<char>(c - 'a' + 'A');
    }
    auto found = set_in(environment, variable);
    return found || name != "servers" ? found : set_in(environment, "ZK_HOSTS");
}

/// What the files say that --config or LATCHKEY_CONFIG names, else the usual ones. An empty name:
/// none.
config configuration(const program_options& options, const environment_lookup& environment) {
    config all({shared_names.begin(), shared_names.end()});
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

void program_options::declare(option_parser& parser, const environment_lookup& environment) {
    parser.describe("{servers}", servers_help);
    parser.describe("{credentials}", credentials_help);
    parser.value("--config", config_file);
    parser.value("--profile", profile);
    parser.value("-z,--servers", [this](const std::string& text) { servers = text; });
    parser.value("-t,--session-timeout",
                 [this](const std::string& text) { session_timeout = session_timeout_from(text); });
    parser.value("--auth-file", auth_file);
    for (const auto& one : tls_option_names) {
        std::string& value = tls.*one.where;
        parser.value(one.name, [&value, name = one.name](const std::string& text) {
            if (text.empty()) {
                throw usage_error(fmt::format("{}: is empty; leave it out", name));
            }
            value = text;
        });
    }
    parser.flag("--verbose", verbose);
    parser.flag("--json", json);
    parser.otherwise([this, environment, files = std::optional<config>()](
                         std::string_view name) mutable -> std::optional<setting> {
        if (!is_shared(name)) {
            return std::nullopt;
        }
        if (auto found = variable_for(name, environment)) {
            return found;
        }
        if (!files) {
            files = configuration(*this, environment);
        }
        // The secret itself says more than the name of a file with another one.
        const bool has_secret = name == "auth-file" && has_credentials(environment);
        auto found = has_secret ? std::nullopt : files->find(name);
        return found && !found->text.empty() ? found : std::nullopt;
    });
}

void program_options::declare_access(option_parser& parser) {
    parser.describe("{acl}", acl_help);
    parser.value("--acl", [this](const std::string& text) { access = parse_acl(text); });
}

void program_options::check() const {
    if (servers.empty()) {
        throw usage_error(
            "no servers: give -z host:port,..., set LATCHKEY_SERVERS (or ZK_HOSTS) in the "
            "environment, or servers in a configuration file");
    }
    check_tls(tls);
}

void run_options::declare(option_parser& parser, const environment_lookup& environment) {
    program_options::declare(parser, environment);
    declare_access(parser);
    parser.value("--grace",
                 [this](const std::string& text) { grace = parse_seconds("--grace", text); });
    parser.describe("{pass_auth}", pass_auth_help);
    parser.flag("--pass-auth", pass_auth);
    parser.flag("-q,--quiet", quiet);
}

void run_options::declare_hold(option_parser& parser) {
    const auto duration = [&parser](const char* name, std::optional<std::chrono::nanoseconds>& to) {
        parser.value(name,
                     [name, &to](const std::string& text) { to = parse_seconds(name, text); });
    };
    duration("--max-hold", max_hold);
    duration("--min-hold", min_hold);
    duration("--once-per", once_per);
    parser.value("--on-lost", on_lost);
    parser.describe("{audit}", audit_help);
    parser.value("--audit", audit);
    parser.value("--metrics-file", metrics_file);
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

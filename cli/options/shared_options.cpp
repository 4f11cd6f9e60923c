#include "options/shared_options.hpp"

#include <string>

namespace latchkey::cli {

std::vector<option_syntax> connection_options(std::string_view timeout,
                                              std::string_view json,
                                              const std::vector<option_syntax>& more) {
    std::vector<option_syntax> all{
        {"-z, --servers",
         "HOSTS",
         "host:port,host:port,...[/chroot] (default: $LATCHKEY_SERVERS, else $ZK_HOSTS)",
         true},
        {"-t, --session-timeout", "SEC", timeout, true},
        {"--auth-file",
         "FILE",
         "lines \"digest USER:PASSWORD\". FILE must not be accessible to other users (default: the "
         "line in $LATCHKEY_AUTH)",
         true},
        {"--tls-ca",
         "FILE",
         "encrypt with TLS. FILE (PEM) has the certificate of the authority that signs for the "
         "servers (default: $LATCHKEY_TLS_CA, else clear text)",
         true},
        {"--tls-cert", "FILE", "the certificate of this client ($LATCHKEY_TLS_CERT)", true},
        {"--tls-key",
         "FILE",
         "its private key ($LATCHKEY_TLS_KEY, else in the file of --tls-cert)",
         true},
        {"--tls-name",
         "NAME",
         "the name that the servers' certificates are for, if it is not that in -z "
         "($LATCHKEY_TLS_NAME)",
         true},
        {"--config",
         "FILE",
         "read FILE (TOML) for options that are neither given here nor in the environment "
         "(default: $LATCHKEY_CONFIG, else ~/.config/latchkey.toml and /etc/latchkey.toml)"},
        {"--profile", "NAME", "use the settings of profiles.NAME in it ($LATCHKEY_PROFILE)"}};
    all.insert(all.end(), more.begin(), more.end());
    all.push_back({"--verbose", "", "report on stderr what happens"});
    all.push_back({"--json", "", json});
    return all;
}

std::vector<std::pair<int, std::string_view>> failures_of_reading(std::string_view none,
                                                                  std::string_view other) {
    return {{1, none},
            {64, "wrong use"},
            {65, other},
            {69, "no server answers"},
            {71, "the system failed"},
            {74, "cannot write to stdout"},
            {77, "not authorized"}};
}

const std::vector<std::string_view>& configurable_names() {
    static const auto names = [] {
        std::vector<std::string_view> found;
        for (const option_syntax& one :
             connection_options("", "", {acl_option, direct_option, prefer_option})) {
            if (one.configurable) {
                found.push_back(one.key());
            }
        }
        return found;
    }();
    return names;
}

std::string variable_of(std::string_view option) {
    std::string variable = "LATCHKEY_";
    for (const char c : option) {
        variable += c == '-' ? '_' : static_cast<char>(c - 'a' + 'A');
    }
    return variable;
}

const std::vector<described_name>& connection_environment() {
    static const std::vector<described_name> all{
        {"ZK_HOSTS", "The servers, if neither --servers nor LATCHKEY_SERVERS is given."},
        {"LATCHKEY_AUTH", "Credentials, \"digest USER:PASSWORD\", if --auth-file is not given."},
        {"LATCHKEY_CONFIG", "The value of --config, if that is not given."},
        {"LATCHKEY_PROFILE", "The value of --profile, if that is not given."}};
    return all;
}

std::vector<described_name> command_environment(bool has_token) {
    std::vector<described_name> all{
        {"SHELL", "The shell that runs the STRING of -c."},
        {"LATCHKEY_PATH", "Set for CMD: the path."},
        {"LATCHKEY_NODE", "Set for CMD: the znode of this participant."}};
    if (has_token) {
        all.push_back({"LATCHKEY_TOKEN", "Set for CMD: the fencing token."});
    }
    all.push_back({"NOTIFY_SOCKET",
                   "Set by systemd for a unit with Type=notify. latchkey reports its state there, "
                   "and does not pass the variable on."});
    return all;
}

}  // namespace latchkey::cli

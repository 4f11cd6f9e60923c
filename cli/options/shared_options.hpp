#pragma once

#include "options/command_syntax.hpp"

#include <string_view>
#include <utility>
#include <vector>

namespace latchkey::cli {

inline constexpr option_syntax acl_option{
    "--acl",
    "LIST",
    "who may do what with the znodes that it creates: creator, open, or entries "
    "SCHEME:ID:PERMISSIONS with semicolons between them (default: creator if there are credentials "
    "or a certificate, else open)",
    true};

inline constexpr option_syntax direct_option{
    "--direct",
    "ADDRESS",
    "listen at ADDRESS for the messages of other participants, which hand on the lock by a "
    "datagram instead of an event of the servers: a numeric address and a port, 0 for any, or a "
    "range, as 10.1.2.3:4000-4100; at most four, with commas between them",
    true};

inline constexpr option_syntax prefer_option{
    "--prefer",
    "SERVER",
    "with which server to be connected: any (default), leader (a write needs fewer messages "
    "between the servers), or near (the first to answer). latchkey asks them all with the word "
    "srvr",
    true};

inline constexpr option_syntax pass_auth_option{
    "--pass-auth",
    "",
    "leave LATCHKEY_AUTH in the environment of CMD. Without this option it is removed"};

inline constexpr option_syntax audit_option{
    "--audit",
    "FILE",
    "append a line to FILE for each grant, release and loss, as a JSON object. \"syslog\" sends "
    "them to syslog (facility auth)"};

inline constexpr option_syntax metrics_option{
    "--metrics-file",
    "FILE",
    "write metrics to FILE, for the textfile collector of Prometheus' node_exporter"};

inline constexpr option_syntax quiet_option{
    "-q, --quiet", "", "print nothing on stderr but errors"};

/// The options of a command that connects: `timeout` says what the session timeout means to it, and
/// `json` what it prints as JSON. `more` are further ones.
[[nodiscard]] std::vector<option_syntax> connection_options(
    std::string_view timeout, std::string_view json, const std::vector<option_syntax>& more = {});

/// The failures of a command that only reads: `none` is what its status 1 means, `other` what 65
/// does.
[[nodiscard]] std::vector<std::pair<int, std::string_view>> failures_of_reading(
    std::string_view none, std::string_view other = "another error");

/// The names that configuration files may have, and LATCHKEY_ variables.
[[nodiscard]] const std::vector<std::string_view>& configurable_names();

/// "LATCHKEY_TLS_CA" for "tls-ca".
[[nodiscard]] std::string variable_of(std::string_view option);

/// What else of the environment a command uses that connects.
[[nodiscard]] const std::vector<described_name>& connection_environment();

/// What a command of the user gets, and uses, of the environment.
[[nodiscard]] std::vector<described_name> command_environment(bool has_token);

}  // namespace latchkey::cli

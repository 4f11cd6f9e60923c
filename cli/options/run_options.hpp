#pragma once

#include <latchkey/acl.hpp>
#include <latchkey/server_preference.hpp>
#include <latchkey/tls.hpp>

#include "options/command_line.hpp"
#include "options/config.hpp"
#include "output/status_output.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::cli {

/// getenv().
[[nodiscard]] std::optional<std::string> environment_variable(const char* name);

/// The options of every command that connects to servers.
struct program_options {
    std::string servers;
    std::string path;
    std::chrono::milliseconds session_timeout{10'000};
    std::optional<std::string> auth_file;
    tls_options tls;  ///< without a CA file: clear text
    acl access;       ///< empty: creator-only with credentials or a certificate, else open
    std::vector<std::string> direct;  ///< addresses
    server_preference prefer = server_preference::any;
    std::optional<std::string> config_file;
    std::optional<std::string> profile;
    bool verbose = false;
    bool json = false;

    /// Options that are not given come from the environment, else from configuration files. Throws
    /// usage_error.
    void take(const command_line& line,
              const environment_lookup& environment = environment_variable);

    /// Checks the options together, after the parser has read them. Throws usage_error.
    void check() const;

private:
    void take_setting(std::string_view name, const std::string& text);
};

/// The options of the commands that run a command: lock, elect and join.
struct run_options : program_options {
    std::vector<std::string> paths;    ///< if there are several; then `path` is all of them
    std::vector<std::string> command;  ///< empty: none is run
    std::optional<std::chrono::nanoseconds> grace;
    bool pass_auth = false;  ///< leave LATCHKEY_AUTH in the command's environment
    bool quiet = false;

    // lock and elect
    std::optional<std::chrono::nanoseconds> max_hold;
    std::optional<std::chrono::nanoseconds> min_hold;
    std::optional<std::chrono::nanoseconds> once_per;
    std::optional<std::string> on_lost;       ///< a command for /bin/sh
    std::optional<std::string> audit;         ///< a file, or "syslog"
    std::optional<std::string> metrics_file;  ///< for node_exporter

    void take(const command_line& line,
              const environment_lookup& environment = environment_variable);

    /// The options of lock and elect alone.
    void take_hold(const command_line& line);

    void check() const;

    /// What latchkey prints on stderr.
    [[nodiscard]] status_output output() const;

private:
    void check_hold() const;
};

/// The command in the words after PATH: "--" and the command, -c and a string, the command alone,
/// or nothing. Throws usage_error.
[[nodiscard]] std::vector<std::string> command_from(std::vector<std::string> words,
                                                    const environment_lookup& environment);

/// How long before the deadline the command gets TERM, for a session timeout T as negotiated:
/// --grace (throws usage_error if that is longer than T/4), else T/20, at most 2 s and half of
/// --max-hold. Not more, because a client whose server is silent moves to another server only after
/// 5/12 of T, and after a silence a hold is at first valid for only 3T/16. A longer grace would end
/// the command although that move saves the hold.
[[nodiscard]] std::chrono::nanoseconds grace_within(const run_options& options,
                                                    std::chrono::milliseconds session_timeout);

}  // namespace latchkey::cli

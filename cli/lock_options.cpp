#include "lock_options.hpp"

#include "lock_choice.hpp"
#include "lock_help.hpp"
#include "printable.hpp"
#include "seconds.hpp"
#include "supervisor_messages.hpp"
#include "usage_error.hpp"

#include <algorithm>
#include <limits>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace latchkey::cli {

namespace {

using arguments = std::vector<std::string>;

/// The option values as written; they are judged after all are read, each by what it means.
struct raw_options {
    std::optional<std::string> servers;
    std::optional<std::string> wait;
    std::optional<std::string> conflict_status;
    std::optional<std::string> session_timeout;
    std::optional<std::string> grace;
    lock_words lock;
};

void declare(CLI::App& app, raw_options& raw, lock_options& options) {
    const auto value = [&app](const char* names, std::optional<std::string>& to) {
        app.add_option_function<std::string>(names, [&to](const std::string& text) { to = text; })
            ->take_last();
    };
    value("-z,--servers", raw.servers);
    value("-w,--wait,--timeout", raw.wait);
    value("-E,--conflict-exit-code", raw.conflict_status);
    value("-t,--session-timeout", raw.session_timeout);
    value("--grace", raw.grace);
    value("-N,--permits", raw.lock.permits);
    value("--limit", raw.lock.limit);
    value("--file", raw.lock.file);
    value("--key", raw.lock.key);
    value("--auth-file", options.auth_file);
    app.add_flag("-x,-e,--exclusive", raw.lock.exclusive);
    app.add_flag("-s,--shared", raw.lock.shared);
    app.add_flag("--all", raw.lock.all);
    app.add_flag("-n,--nb,--nonblock", options.try_only);
    app.add_flag("--verbose", options.verbose);
    app.add_flag("--json", options.json);
}

/// Whether the word after `word` is its value.
bool takes_next_word(const CLI::App& app, const std::string& word) {
    if (word.rfind("--", 0) == 0) {
        const auto* option = app.get_option_no_throw(word);  // "--wait=5" is not a name
        return option != nullptr && option->get_expected_min() > 0;
    }
    for (std::size_t i = 1; i < word.size(); ++i) {
        const auto* option = app.get_option_no_throw(std::string("-") + word[i]);
        if (option == nullptr) {
            return false;  // the parser will say so
        }
        if (option->get_expected_min() > 0) {
            return i + 1 == word.size();
        }
    }
    return false;
}

/// What follows is for the shell.
bool asks_for_shell(const std::string& word) {
    return word == "-c" || word == "--command";
}

/// How many of the arguments are options: they end at the first operand, or before "--".
std::size_t count_options(const CLI::App& app, const arguments& all) {
    std::size_t i = 0;
    while (i < all.size() && all[i].size() > 1 && all[i][0] == '-' && all[i] != "--" &&
           !asks_for_shell(all[i])) {
        i += takes_next_word(app, all[i]) ? 2 : 1;
    }
    return std::min(i, all.size());
}

std::vector<std::string> shell_command(const arguments& operands,
                                       const environment_lookup& environment) {
    if (operands.size() != 2) {
        throw usage_error(
            fmt::format("{}: takes exactly one argument, the command line for the shell, not {}; "
                        "quote it",
                        operands[0],
                        operands.size() - 1));
    }
    const auto shell = environment("SHELL");
    return {shell && !shell->empty() ? *shell : "/bin/sh", "-c", operands[1]};
}

void take_path(arguments& operands, lock_options& options) {
    if (operands.empty()) {
        throw usage_error(
            "which lock? give its path, for example: latchkey lock /jobs/nightly -- CMD");
    }
    if (asks_for_shell(operands.front())) {
        throw usage_error(fmt::format("which lock? give its path before {}", operands.front()));
    }
    options.path = operands.front();
    operands.erase(operands.begin());
}

/// All words up to "--" or -c.
void take_paths(arguments& operands, lock_options& options) {
    std::size_t bytes = 0;
    auto at = operands.begin();
    for (; at != operands.end() && *at != "--" && !asks_for_shell(*at); ++at) {
        if (at->empty() || at->front() != '/') {
            throw usage_error(fmt::format(
                "'{}' is not a PATH; with --all put '--' before the command", printable(*at)));
        }
        bytes += at->size() + 64;
        options.paths.push_back(*at);
        options.path += (options.path.empty() ? "" : " ") + *at;
    }
    if (options.paths.empty()) {
        throw usage_error(
            "which locks? give their paths, for example: latchkey lock --all /a /b -- CMD");
    }
    // The command gets them, and their znodes, in its environment.
    if (bytes > supervisor_order::most_settings_bytes / 2 - 1024) {
        throw usage_error(fmt::format(
            "--all: {} PATHs are too many; give at most 28 of the longest", options.paths.size()));
    }
    operands.erase(operands.begin(), at);
}

/// Options may end with "--" before the PATH. Without a PATH the same "--" is the one before the
/// command.
void read_operands(arguments operands,
                   lock_options& options,
                   const environment_lookup& environment) {
    const bool path_is_given = !options.path.empty();
    if (path_is_given && operands.size() > 1 && operands[0] != "--" && operands[1] == "--") {
        throw usage_error(fmt::format(
            "'{}' before '--': --file and --key take the place of PATH; leave one of them out",
            printable(operands[0])));
    }
    if (!path_is_given && !operands.empty() && operands.front() == "--") {
        operands.erase(operands.begin());
    }
    if (options.what == lock_options::kind::all) {
        take_paths(operands, options);
    } else if (!path_is_given) {
        take_path(operands, options);
    }
    if (operands.empty()) {
        return;
    }
    if (asks_for_shell(operands.front())) {
        options.command = shell_command(operands, environment);
        return;
    }
    if (operands.front() == "--") {
        operands.erase(operands.begin());
        if (operands.empty()) {
            throw usage_error("no command after '--'; leave '--' out to hold the lock without one");
        }
    }
    if (operands.front().empty()) {
        throw usage_error("the command is an empty word");
    }
    options.command = std::move(operands);
}

std::string servers_from(const raw_options& raw, const environment_lookup& environment) {
    if (raw.servers) {
        return *raw.servers;
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

int conflict_status_from(const std::string& text) {
    int status = 0;
    for (const char c : text) {
        const bool digit = c >= '0' && c <= '9';
        status = digit && status <= 255 ? status * 10 + (c - '0') : 256;
    }
    if (text.empty() || status > 255) {
        throw usage_error(fmt::format("-E: '{}' is not an exit status; give a number from 0 to 255",
                                      printable(text)));
    }
    return status;
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

void read_durations(const raw_options& raw, lock_options& options) {
    if (raw.session_timeout) {
        options.session_timeout = session_timeout_from(*raw.session_timeout);
    }
    if (raw.grace) {
        options.grace = parse_seconds("--grace", *raw.grace);
    }
    static_cast<void>(grace_within(options, options.session_timeout));
    if (raw.wait) {
        options.wait = parse_seconds("-w/--wait", *raw.wait);
        if (*options.wait == std::chrono::nanoseconds::zero()) {
            options.wait.reset();
            options.try_only = true;
        }
    }
}

void parse_words(CLI::App& app, const arguments& words) {
    for (const auto& word : words) {
        if (word.rfind("--", 0) == 0 && word.back() == '=') {
            throw usage_error(
                fmt::format("'{}' has no value; give one after the '='", printable(word)));
        }
    }
    arguments reversed(words.rbegin(), words.rend());  // as CLI11 wants them
    try {
        app.parse(std::move(reversed));
    } catch (const CLI::ParseError& e) {
        throw usage_error(fmt::format("{}; see latchkey lock --help", printable_message(e.what())));
    }
}

}  // namespace

std::variant<lock_options, help_text> parse_lock_options(const arguments& all,
                                                         const environment_lookup& environment) {
    CLI::App app;
    raw_options raw;
    lock_options options;
    app.set_help_flag();
    bool help = false;
    bool version = false;
    app.add_flag("-h,--help", help);
    app.add_flag("-V,--version", version);
    declare(app, raw, options);

    const auto end = all.begin() + static_cast<std::ptrdiff_t>(count_options(app, all));
    parse_words(app, arguments(all.begin(), end));
    if (help) {
        return help_text{lock_help()};
    }
    if (version) {
        return help_text{version_line()};
    }
    choose_lock(raw.lock, options);
    read_operands(arguments(end, all.end()), options, environment);
    read_durations(raw, options);
    if (raw.conflict_status) {
        options.conflict_status = conflict_status_from(*raw.conflict_status);
    }
    options.servers = servers_from(raw, environment);
    return options;
}

std::chrono::nanoseconds grace_within(const lock_options& options,
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

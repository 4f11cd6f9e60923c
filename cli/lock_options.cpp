#include "lock_options.hpp"

#include "duration_text.hpp"
#include "lock_choice.hpp"
#include "lock_help.hpp"
#include "supervisor_messages.hpp"
#include "text/escape.hpp"
#include "usage_error.hpp"

#include <utility>

#include <fmt/format.h>

namespace latchkey::cli {

namespace {

using arguments = std::vector<std::string>;

/// The option values as written; they are judged after all are read, each by what it means.
struct raw_options {
    std::optional<std::string> wait;
    std::optional<std::string> conflict_status;
    lock_words lock;
    run_words run;
};

void declare(option_parser& parser, raw_options& raw, lock_options& options) {
    raw.run.declare(parser, options);
    parser.value("-w,--wait,--timeout", raw.wait);
    parser.value("-E,--conflict-exit-code", raw.conflict_status);
    parser.value("-N,--permits", raw.lock.permits);
    parser.value("--limit", raw.lock.limit);
    parser.value("--file", raw.lock.file);
    parser.value("--key", raw.lock.key);
    parser.flag("-x,-e,--exclusive", raw.lock.exclusive);
    parser.flag("-s,--shared", raw.lock.shared);
    parser.flag("--all", raw.lock.all);
    parser.flag("-n,--nb,--nonblock", options.try_only);
}

void take_lock_path(arguments& operands, lock_options& options) {
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
                "'{}' is not a PATH; with --all put '--' before the command", escaped(*at)));
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
            escaped(operands[0])));
    }
    if (!path_is_given && !operands.empty() && operands.front() == "--") {
        operands.erase(operands.begin());
    }
    if (options.what == lock_options::kind::all) {
        take_paths(operands, options);
    } else if (!path_is_given) {
        take_lock_path(operands, options);
    }
    options.command = command_from(std::move(operands), environment);
}

int conflict_status_from(const std::string& text) {
    int status = 0;
    for (const char c : text) {
        const bool digit = c >= '0' && c <= '9';
        status = digit && status <= 255 ? status * 10 + (c - '0') : 256;
    }
    if (text.empty() || status > 255) {
        throw usage_error(fmt::format("-E: '{}' is not an exit status; give a number from 0 to 255",
                                      escaped(text)));
    }
    return status;
}

void read_wait(const std::string& text, lock_options& options) {
    options.wait = parse_seconds("-w/--wait", text);
    if (*options.wait == std::chrono::nanoseconds::zero()) {
        options.wait.reset();
        options.try_only = true;
    }
}

}  // namespace

std::variant<lock_options, help_text> parse_lock_options(const arguments& all,
                                                         const environment_lookup& environment) {
    option_parser parser("lock");
    raw_options raw;
    lock_options options;
    declare(parser, raw, options);
    auto operands = parser.read(all);
    if (parser.help()) {
        return help_text{lock_help()};
    }
    if (parser.version()) {
        return help_text{version_line()};
    }
    choose_lock(raw.lock, options);
    read_operands(std::move(operands), options, environment);
    if (raw.wait) {
        read_wait(*raw.wait, options);
    }
    if (raw.conflict_status) {
        options.conflict_status = conflict_status_from(*raw.conflict_status);
    }
    raw.run.judge(options, environment);
    return options;
}

}  // namespace latchkey::cli

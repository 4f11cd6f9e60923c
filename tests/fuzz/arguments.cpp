#include "input.hpp"
#include "options/elect_options.hpp"
#include "options/lock_options.hpp"
#include "output/exit_status.hpp"
#include "text/escape.hpp"

#include <algorithm>
#include <cstring>

// The words after "latchkey lock", and after "latchkey elect", a line each; the first line is
// LATCHKEY_SERVERS. Nothing is run.

namespace {

using namespace latchkey;
using fuzz::require;
using words = std::vector<std::string>;

void check_run(const cli::run_options& options, const words& all) {
    require(options.session_timeout.count() >= 1 && options.session_timeout.count() <= INT32_MAX,
            "a session timeout that the protocol can carry");
    require(!options.grace ||
                (options.grace->count() >= 0 && *options.grace <= options.session_timeout / 4),
            "grace is a part of the timeout");
    require(cli::grace_within(options, options.session_timeout) <= options.session_timeout / 4,
            "so is what comes of it");
    const bool shell = options.command.size() == 3 && options.command[1] == "-c" &&
                       options.command[0] == "/bin/fuzz-shell";
    require(shell || (options.command.size() < all.size() &&
                      std::equal(options.command.rbegin(), options.command.rend(), all.rbegin())),
            "the command is what the words end with, unchanged");
    require(!shell || options.command[2] == all.back(), "so is the shell's");
}

bool is_among(const std::string& word, const words& all) {
    return std::ranges::find(all, word) != all.end();
}

void check(const cli::lock_options& options, const words& all) {
    check_run(options, all);
    require(options.conflict_status >= 0 && options.conflict_status <= 255, "an exit status");
    require(!options.wait || options.wait->count() > 0, "no time at all is to try only");
    require(!options.paths.empty() || options.path.starts_with("/files/") ||
                is_among(options.path, all),
            "the path was given, or is a file's");
    require(!options.limit || options.permits <= *options.limit, "permits that can be had");
}

void check(const cli::elect_options& options, const words& all) {
    check_run(options, all);
    require(is_among(options.path, all), "the path was given");
    require(!options.follow || (options.command.empty() && options.id.empty() && !options.once),
            "who listens takes no part");
}

template <class Parse>
void read(const words& all, Parse parse) {
    try {
        check(parse(), all);
    } catch (const cli::help_request& help) {
        require(*help.what() != '\0', "help helps");
    } catch (const cli::usage_error& e) {
        require(*e.what() != '\0', "a refusal says why");
        require(escaped_message(e.what()) == e.what(), "and can be shown");
    }
}

}  // namespace

void fuzz::check_input(std::string_view text) {
    words all = fuzz::split(text, '\n');
    const std::string servers = all.front();
    all.erase(all.begin());
    // No word of a program has a NUL in it.
    for (std::string& word : all) {
        word.resize(std::strlen(word.c_str()));
    }
    const auto environment = [&](const char* name) -> std::optional<std::string> {
        if (name == std::string_view("LATCHKEY_SERVERS")) {
            return servers;
        }
        if (name == std::string_view("SHELL")) {
            return "/bin/fuzz-shell";
        }
        return name == std::string_view("LATCHKEY_CONFIG") ? std::optional<std::string>("")
                                                           : std::nullopt;
    };
    read(all, [&] { return cli::parse_lock_options(all, environment); });
    read(all, [&] { return cli::parse_elect_options(all, environment); });
}

#include "commands.hpp"
#include "completion/completion.hpp"
#include "completion/shell_words.hpp"
#include "options/connecting.hpp"
#include "options/run_options.hpp"
#include "output/exit_status.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <exception>
#include <utility>

#include <fmt/format.h>
#include <sys/time.h>
#include <unistd.h>

namespace latchkey::cli {

namespace {

// The user waits at the keyboard.
constexpr std::chrono::seconds most_time{2};
constexpr std::chrono::milliseconds most_time_to_connect{1500};

/// Ends this process, without a word, when the time is over.
void end_this_process_in_time() {
    struct sigaction end {};

    end.sa_handler = [](int) { ::_exit(exit_status::unreachable); };
    ::sigaction(SIGALRM, &end, nullptr);
    itimerval limit{};
    limit.it_value.tv_sec = most_time.count();
    ::setitimer(ITIMER_REAL, &limit, nullptr);
}

std::vector<std::string> znodes_below(const command_line& line, const std::string& path) {
    try {
        program_options how;
        how.take(line);
        how.check();
        const status_output silent(false, false);
        const client zk = client::connect(how.servers, client_options_of(how, silent));
        return zk.wait_connected(most_time_to_connect) ? zk.children(path)
                                                       : std::vector<std::string>{};
    } catch (const std::exception&) {
        return {};
    }
}

std::string line_for(const completion& found) {
    using enum completion::action;
    switch (found.then) {
        case no_space:
            return ":nospace\n";
        case files:
            return ":files\n";
        case command:
            return fmt::format(":command {}\n", found.command_begins);
        default:
            return ":nothing\n";
    }
}

}  // namespace

int complete_command(const std::vector<std::string>& arguments,
                     std::span<const command_syntax* const> commands) {
    if (arguments.size() < 2) {
        throw usage_error("__complete is for the completion scripts of shells");
    }
    end_this_process_in_time();
    const bool is_bash = arguments.front() == "bash";
    std::vector<std::string> words(arguments.begin() + 1, arguments.end());
    typed_word at_cursor{words.back()};
    if (is_bash) {
        at_cursor = read_typed_word(words.back());
        for (std::string& word : words) {
            word = read_typed_word(word).text;
        }
    }
    const auto found = complete(words, {.commands = commands, .children_of = znodes_below});
    std::string text;
    for (const auto& [candidate, description] : found.candidates) {
        const auto word = is_bash ? quoted_like(at_cursor, candidate) : candidate;
        if (word) {
            text += *word + (description.empty() ? "" : '\t' + description) + '\n';
        }
    }
    return write_to_stdout(text + line_for(found)) ? exit_status::success
                                                   : exit_status::output_failed;
}

}  // namespace latchkey::cli

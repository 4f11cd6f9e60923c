#include "completion/completion.hpp"

#include "options/help_text.hpp"
#include "options/option_parser.hpp"
#include "text/escape.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace latchkey::cli {

namespace {

using action = completion::action;

/// The command line up to the cursor, read by the rules of option_parser.
struct command_line {
    std::vector<std::string> options;           ///< as they were given, with their values
    std::vector<std::string> given;             ///< all names of these options
    const described_option* waiting = nullptr;  ///< the word at the cursor is its value
    std::vector<std::string> operands;          ///< before the cursor
    std::size_t first_operand = 0;              ///< index of a word
    bool options_ended = false;
    bool command_begun = false;  ///< by "--" behind an operand
    bool for_shell = false;      ///< by -c
};

/// The last option in a word such as "-nw", or the one that "--wait=5" names. Null if unknown.
const described_option* last_option(const help_contents& help,
                                    const std::string& word,
                                    bool& takes_next) {
    takes_next = false;
    if (word.starts_with("--")) {
        const auto* found = help.option(word.substr(0, word.find('=')));
        takes_next = found != nullptr && !found->value.empty() && word.find('=') == word.npos;
        return found;
    }
    const described_option* found = nullptr;
    for (std::size_t i = 1; i < word.size(); ++i) {
        found = help.option(std::string("-") + word[i]);
        if (found == nullptr || !found->value.empty()) {
            takes_next = found != nullptr && i + 1 == word.size();
            break;
        }
    }
    return found;
}

/// `words` without the one at the cursor.
command_line read_line(const help_contents& help, const std::vector<std::string>& words) {
    command_line line;
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
        const std::string& word = words[i];
        if (line.operands.empty() && !line.options_ended && word.size() > 1 && word[0] == '-' &&
            word != "--" && !asks_for_shell(word)) {
            bool takes_next = false;
            const auto* option = last_option(help, word, takes_next);
            line.options.push_back(word);
            if (option != nullptr) {
                line.given.insert(line.given.end(), option->names.begin(), option->names.end());
            }
            if (takes_next && i + 2 == words.size()) {
                line.waiting = option;
                return line;
            }
            if (takes_next) {
                line.options.push_back(words[++i]);
            }
        } else if (asks_for_shell(word) && line.operands.size() < 2) {
            line.for_shell = true;
            return line;
        } else if (word == "--") {
            line.command_begun = line.options_ended || !line.operands.empty();
            line.options_ended = true;
            line.first_operand = line.command_begun ? i + 1 : line.first_operand;
            if (line.command_begun) {
                return line;
            }
        } else {
            if (line.operands.empty()) {
                line.first_operand = i;
            }
            line.operands.push_back(word);
            line.options_ended = true;
        }
    }
    return line;
}

/// The forms of the usage whose options are given, those with the most of them.
std::vector<usage_form> forms_in_use(const help_contents& help, const command_line& line) {
    std::vector<usage_form> found;
    std::size_t most = 0;
    for (const usage_form& form : help.usage) {
        const bool fits = std::all_of(form.flags.begin(), form.flags.end(), [&](const auto& flag) {
            return std::find(line.given.begin(), line.given.end(), flag) != line.given.end();
        });
        if (fits && form.flags.size() > most) {
            found.clear();
            most = form.flags.size();
        }
        if (fits && form.flags.size() == most) {
            found.push_back(form);
        }
    }
    return found;
}

/// What the usage calls the operand at this index: "PATH". Empty if there is none.
std::string operand_name(const usage_form& form, std::size_t at) {
    if (at < form.operands.size()) {
        return form.operands[at];
    }
    return form.repeats && !form.operands.empty() ? form.operands.back() : "";
}

/// A participant's znode ends in a sequence number of ten digits.
bool is_participant(std::string_view name) {
    constexpr std::size_t digits = 10;
    return name.size() > digits && std::all_of(name.end() - digits, name.end(), [](char c) {
               return c >= '0' && c <= '9';
           });
}

/// The first sentence of a description, without what is in parentheses or explains it.
std::string beginning_of(const std::string& text) {
    std::size_t end = text.size();
    for (const char* mark : {". ", ": ", "; ", " ("}) {
        end = std::min(end, text.find(mark));
    }
    return text.substr(0, end);
}

/// Names that a terminal would not show as they are cannot be chosen there.
bool is_offered(const std::string& name) {
    return escaped_message(name) == name;
}

class completer {
public:
    completer(const std::vector<std::string>& words, const completion_sources& sources)
        : words_(words), sources_(sources), current_(words.back()) {}

    completion run() {
        if (words_.size() == 1 || (words_.size() == 2 && words_[0] == "help")) {
            offer_commands();
            return std::move(result_);
        }
        help_ = read_help(sources_.help_of(words_[0]));
        if (help_.usage.empty()) {
            return {};
        }
        line_ = read_line(help_, words_);
        const std::size_t equals = current_.find('=');
        if (line_.for_shell) {
            return {};
        }
        if (line_.waiting != nullptr) {
            offer_values(line_.waiting->value, "");
        } else if (line_.command_begun) {
            begin_command(line_.first_operand);
        } else if (!line_.options_ended && current_.starts_with("--") && equals != current_.npos) {
            if (const auto* option = help_.option(current_.substr(0, equals))) {
                offer_values(option->value, current_.substr(0, equals + 1));
            }
        } else if (!line_.options_ended && current_.starts_with('-')) {
            offer_options();
        } else {
            offer_operands();
        }
        return std::move(result_);
    }

private:
    void offer(const std::string& text, const std::string& description = "") {
        if (text.starts_with(current_)) {
            result_.candidates.push_back({text, description});
        }
    }

    void offer_commands() {
        const auto help = read_help(sources_.help_of(""));
        for (const auto& [name, description] : help.commands) {
            offer(name, description);
        }
        if (words_.size() == 1) {
            offer("help", "describe a command");
        }
        if (words_.size() == 1 && current_.starts_with('-')) {
            help_ = help;
            offer_options();
        }
    }

    void offer_options() {
        for (const auto& option : help_.options) {
            const auto description = beginning_of(option.text);
            const bool has_long = option.names.back().starts_with("--");
            for (const std::string& name : option.names) {
                if (name.starts_with("--") || !has_long || name == current_) {
                    offer(name, description);
                }
            }
        }
    }

    /// Of an operand or of an option's value. `before` is what precedes it in its word: "--file=".
    void offer_values(const std::string& what, const std::string& before) {
        if (what.starts_with("FILE") || what.starts_with("DIR")) {
            result_.then = action::files;
        } else if (what == "PATH") {
            offer_paths(before);
        } else if (what == "NODE") {
            offer_participants();
        } else if (what == "COMMAND") {
            offer_commands();
        }
    }

    void offer_operands() {
        std::set<std::string> names;
        const std::size_t at = line_.operands.size();
        for (const usage_form& form : forms_in_use(help_, line_)) {
            for (std::size_t i = 0; i <= at; ++i) {
                const auto name = operand_name(form, i);
                if (name == "CMD" || name == "...") {
                    begin_command(i < at ? line_.first_operand + i : words_.size() - 1);
                    break;
                }
                if (i == at) {
                    names.insert(name);
                }
            }
        }
        for (const std::string& name : names) {
            offer_values(name, "");
        }
    }

    void begin_command(std::size_t at) {
        result_.then = action::command;
        result_.command_begins = at;
    }

    void offer_paths(const std::string& before) {
        const std::string typed = current_.substr(before.size());
        if (!typed.empty() && typed.front() != '/') {
            return;
        }
        offer_children(before, typed.empty() ? "/" : typed);
        // The znode is complete: what is below it comes next.
        if (result_.candidates.size() == 1 && result_.candidates.front().text == current_) {
            offer_children(before, typed + "/");
        }
        result_.then = action::no_space;
    }

    void offer_children(const std::string& before, const std::string& typed) {
        const auto slash = typed.rfind('/');
        const std::string above = typed.substr(0, slash + 1);
        for (const auto& name :
             sources_.children_of(line_.options, slash == 0 ? "/" : typed.substr(0, slash))) {
            if (!is_participant(name) && is_offered(name)) {
                offer(before + above + name);
            }
        }
    }

    void offer_participants() {
        if (line_.operands.empty()) {
            return;
        }
        for (const auto& name : sources_.children_of(line_.options, line_.operands.front())) {
            if (is_participant(name) && is_offered(name)) {
                offer(name);
            }
        }
    }

    const std::vector<std::string>& words_;
    const completion_sources& sources_;
    const std::string current_;
    help_contents help_;
    command_line line_;
    completion result_;
};

}  // namespace

completion complete(const std::vector<std::string>& words, const completion_sources& sources) {
    return words.empty() ? completion{} : completer(words, sources).run();
}

}  // namespace latchkey::cli

#include "completion/completion.hpp"

#include "text/escape.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace latchkey::cli {

namespace {

using action = completion::action;

/// What follows the options, before the cursor.
struct typed_operands {
    std::vector<std::string> words = {};
    std::size_t begin = 0;       ///< index of the first one, or of the command, in the line
    bool command_begun = false;  ///< by "--" behind an operand
    bool for_shell = false;      ///< by -c
};

typed_operands operands_of(const command_line& line) {
    typed_operands found{.begin = line.first_operand};
    if (!line.syntax->runs_command()) {
        found.words = line.operands;
        return found;
    }
    for (std::size_t i = 0; i < line.operands.size(); ++i) {
        const std::string& word = line.operands[i];
        if (word == "--") {
            found.begin = line.first_operand + i + 1;
            found.command_begun = i > 0;
            if (found.command_begun) {
                break;
            }
        } else if (asks_for_shell(word) && found.words.size() < 2) {
            found.for_shell = true;
            break;
        } else {
            found.words.push_back(word);
        }
    }
    return found;
}

/// The forms of use whose option is given, else those that need none.
std::vector<usage_form> forms_in_use(const command_line& line) {
    std::vector<usage_form> found;
    for (const bool needs_flag : {true, false}) {
        for (const usage_form& form : line.syntax->usage) {
            const bool fits = form.flag.empty() || line.has(form.flag);
            if (fits && form.flag.empty() != needs_flag) {
                found.push_back(form);
            }
        }
        if (!found.empty()) {
            break;
        }
    }
    return found.empty() ? line.syntax->usage : found;
}

/// What the form calls the operand at this index: "PATH". "CMD" if the command of the user begins
/// there, or before; empty if there is none.
std::string_view operand_name(const usage_form& form, std::size_t at) {
    const bool repeats = !form.operands.empty() && form.operands.back().ends_with("...");
    if (at >= form.operands.size() && !repeats) {
        return form.command.empty() ? "" : "CMD";
    }
    auto name = form.operands[std::min(at, form.operands.size() - 1)];
    name = name.substr(0, name.size() - (name.ends_with("...") ? 3 : 0));
    return name.starts_with('[') ? name.substr(1, name.size() - 2) : name;
}

/// A participant's znode ends in a sequence number of ten digits.
bool is_participant(std::string_view name) {
    constexpr std::size_t digits = 10;
    return name.size() > digits && std::all_of(name.end() - digits, name.end(), [](char c) {
               return c >= '0' && c <= '9';
           });
}

/// The first sentence of a description, without what is in parentheses or explains it.
std::string beginning_of(std::string_view text) {
    std::size_t end = text.size();
    for (const char* mark : {". ", ": ", "; ", " ("}) {
        end = std::min(end, text.find(mark));
    }
    return std::string(text.substr(0, end));
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
        const auto command = std::find_if(sources_.commands.begin(),
                                          sources_.commands.end(),
                                          [this](const auto* c) { return c->name == words_[0]; });
        if (command == sources_.commands.end()) {
            return {};
        }
        line_ = command_line::of(**command, {words_.begin() + 1, words_.end() - 1});
        operands_ = operands_of(line_);
        const std::size_t equals = current_.find('=');
        if (line_.waiting != nullptr) {
            offer_values(line_.waiting->value, "");
        } else if (operands_.command_begun) {
            begin_command(operands_.begin + 1);
        } else if (!line_.options_ended && current_.starts_with("--") && equals != current_.npos) {
            if (const auto* option = line_.syntax->option(current_.substr(0, equals))) {
                offer_values(option->value, current_.substr(0, equals + 1));
            }
        } else if (!line_.options_ended && current_.starts_with('-')) {
            for (const auto& group : line_.syntax->all_options()) {
                offer_options(group);
            }
        } else if (!operands_.for_shell) {
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
        for (const auto* const one : sources_.commands) {
            offer(std::string(one->name), std::string(one->summary));
        }
        if (words_.size() == 1) {
            offer("help", "describe a command");
        }
        if (words_.size() == 1 && current_.starts_with('-')) {
            offer_options(basic_options());
        }
    }

    void offer_options(const std::vector<option_syntax>& group) {
        for (const auto& option : group) {
            const auto names = option.all_names();
            const bool has_long = names.back().starts_with("--");
            for (const auto name : names) {
                if (name.starts_with("--") || !has_long || name == current_) {
                    offer(std::string(name), beginning_of(option.text));
                }
            }
        }
    }

    /// Of an operand or of an option's value. `before` is what precedes it in its word: "--file=".
    void offer_values(std::string_view what, const std::string& before) {
        if (what.starts_with("FILE") || what.starts_with("DIR")) {
            result_.then = action::files;
        } else if (what == "PATH") {
            offer_paths(before);
        } else if (what == "NODE") {
            offer_participants();
        }
        for (auto left = what; what.find('|') != what.npos && !left.empty();) {
            const auto end = std::min(left.find('|'), left.size());
            offer(std::string(left.substr(0, end)));
            left.remove_prefix(std::min(end + 1, left.size()));
        }
    }

    void offer_operands() {
        std::set<std::string_view> names;
        const std::size_t at = operands_.words.size();
        for (const usage_form& form : forms_in_use(line_)) {
            const auto name = operand_name(form, at);
            if (name == "CMD") {
                begin_command(at > form.operands.size() ? operands_.begin + form.operands.size() + 1
                                                        : words_.size() - 1);
            } else {
                names.insert(name);
            }
        }
        for (const auto name : names) {
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
             sources_.children_of(line_, slash == 0 ? "/" : typed.substr(0, slash))) {
            if (!is_participant(name) && is_offered(name)) {
                offer(before + above + name);
            }
        }
    }

    void offer_participants() {
        if (operands_.words.empty()) {
            return;
        }
        for (const auto& name : sources_.children_of(line_, operands_.words.front())) {
            if (is_participant(name) && is_offered(name)) {
                offer(name);
            }
        }
    }

    const std::vector<std::string>& words_;
    const completion_sources& sources_;
    const std::string current_;
    command_line line_;
    typed_operands operands_;
    completion result_;
};

}  // namespace

completion complete(const std::vector<std::string>& words, const completion_sources& sources) {
    return words.empty() ? completion{} : completer(words, sources).run();
}

}  // namespace latchkey::cli

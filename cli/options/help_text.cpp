#include "options/help_text.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace latchkey::cli {

namespace {

bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}

bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}

std::size_t indent_of(const std::string& line) {
    return std::min(line.find_first_not_of(' '), line.size());
}

/// Removes and returns the word at the front, and the spaces behind it, which it counts.
std::pair<std::string, std::size_t> take_word(std::string& line) {
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string word = line.substr(0, end);
    const std::size_t next = std::min(line.find_first_not_of(' ', end), line.size());
    line.erase(0, next);
    return {word, next - end};
}

/// A line such as "  -w, --wait SEC  give up".
described_option option_of(std::string line) {
    described_option found;
    while (line.starts_with('-')) {
        auto [name, spaces] = take_word(line);
        const bool more = name.back() == ',';
        if (more) {
            name.pop_back();
        }
        found.names.push_back(std::move(name));
        if (!more) {
            // A description is set off by several spaces, unless the value leaves no room.
            if (spaces == 1 && !line.empty() && is_upper(line.front())) {
                found.value = take_word(line).first;
            }
            break;
        }
    }
    found.text = std::move(line);
    return found;
}

/// "[NODE]", "PATH..." and "[ARG]..." are operands. Returns an empty name for other words.
std::pair<std::string, bool> operand_of(std::string word) {
    const bool repeats = word.ends_with("...");
    if (repeats && word.size() > 3) {
        word.resize(word.size() - 3);
    }
    if (word.size() > 2 && word.front() == '[' && word.back() == ']') {
        word = word.substr(1, word.size() - 2);
    }
    const bool named = !word.empty() && is_upper(word.front());
    return {named || word == "..." ? word : "", repeats};
}

/// The words of a usage line behind the command's name.
usage_form form_of(const std::vector<std::string>& words, const help_contents& help) {
    usage_form form;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "[--]" || words[i].starts_with("[OPTION]")) {
            continue;
        }
        if (words[i].starts_with("[-")) {
            while (words[i].find(']') == std::string::npos && i + 1 < words.size()) {
                ++i;
            }
        } else if (words[i] == "--") {
            return form;  // "PATH... -- CMD": the command begins behind it
        } else if (words[i].starts_with('-')) {
            if (!form.operands.empty()) {
                return form;  // "PATH -c STRING"
            }
            form.flags.push_back(words[i]);
            const auto* option = help.option(words[i]);
            i += option != nullptr && !option->value.empty() ? 1 : 0;
        } else if (auto [name, repeats] = operand_of(words[i]); !name.empty()) {
            form.operands.push_back(std::move(name));
            form.repeats = repeats;
        }
    }
    return form;
}

/// Removes the spaces at the front and returns the words.
std::vector<std::string> words_of(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) {
        words.push_back(word);
    }
    return words;
}

}  // namespace

bool described_option::has_name(std::string_view name) const {
    return std::find(names.begin(), names.end(), name) != names.end();
}

const described_option* help_contents::option(std::string_view name) const {
    const auto found = std::find_if(
        options.begin(), options.end(), [&](const auto& one) { return one.has_name(name); });
    return found == options.end() ? nullptr : &*found;
}

help_contents read_help(std::string_view text) {
    help_contents found;
    std::vector<std::vector<std::string>> usage;
    enum class part { synopsis, option, other } in = part::synopsis;
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
        const std::size_t indent = indent_of(line);
        std::string rest = line.substr(indent);
        if (line.starts_with("Usage: ")) {
            rest = line.substr(7);
        } else if (line.empty() || indent == 0) {
            in = part::other;
            continue;
        }
        if (in == part::synopsis) {
            auto words = words_of(rest);
            if (words.front() == "latchkey") {
                words.erase(words.begin(),
                            words.begin() + std::min<std::ptrdiff_t>(2, std::ssize(words)));
                usage.push_back(std::move(words));
            } else if (!usage.empty()) {
                usage.back().insert(usage.back().end(), words.begin(), words.end());
            }
        } else if (rest.starts_with('-') && indent <= 8) {
            found.options.push_back(option_of(std::move(rest)));
            in = part::option;
        } else if (in == part::option && indent > 8) {
            auto& description = found.options.back().text;
            description += (description.empty() ? "" : " ") + rest;
        } else if (indent == 2 && is_lower(rest.front())) {
            auto [name, spaces] = take_word(rest);
            if (spaces > 1) {
                found.commands.emplace_back(std::move(name), std::move(rest));
            }
            in = part::other;
        } else {
            in = part::other;
        }
    }
    for (const auto& words : usage) {
        found.usage.push_back(form_of(words, found));
    }
    return found;
}

}  // namespace latchkey::cli

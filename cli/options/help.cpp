#include "options/help.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace latchkey::cli {

namespace {

constexpr std::size_t columns = 80;
constexpr std::size_t option_column = 29;

/// `text` behind `begin`, in lines that begin at column `indent`.
std::string wrapped(std::string begin, std::string_view text, std::size_t indent) {
    std::string all;
    std::string line = std::move(begin);
    line.resize(std::max(line.size(), indent), ' ');
    bool has_word = false;
    while (!text.empty()) {
        const auto end = std::min(text.find(' '), text.size());
        if (has_word && line.size() + 1 + end > columns) {
            all += line + '\n';
            line.assign(indent, ' ');
            has_word = false;
        }
        line += has_word ? " " : "";
        line += text.substr(0, end);
        has_word = true;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return all + line + '\n';
}

/// Two columns.
std::string listed(const std::vector<described_name>& list) {
    std::size_t widest = 0;
    for (const auto& one : list) {
        widest = std::max(widest, one.name.size());
    }
    std::string text;
    for (const auto& one : list) {
        text += wrapped(fmt::format("  {}", one.name), one.text, widest + 4);
    }
    return text;
}

std::string paragraphs(const std::vector<paragraph>& all) {
    std::string text;
    for (const paragraph& one : all) {
        text += '\n' + (one.text.empty() ? "" : wrapped("", one.text, 0)) + listed(one.list);
    }
    return text;
}

std::string options(const std::vector<option_syntax>& group) {
    std::string text;
    for (const option_syntax& one : group) {
        const bool has_short = one.names.size() == 2 || !one.names.starts_with("--");
        const auto label = fmt::format("{}{}{}{} ",
                                       has_short ? "  " : "      ",
                                       one.names,
                                       one.value.empty() ? "" : " ",
                                       one.value);
        text += wrapped(label, one.text, option_column);
    }
    return text;
}

}  // namespace

std::string usage_line(const command_syntax& syntax, const usage_form& form) {
    std::string line = fmt::format("latchkey {} [OPTION]...", syntax.name);
    const auto* const option = syntax.option(form.flag);
    if (option != nullptr) {
        line += fmt::format(" {}{}{}", form.flag, option->value.empty() ? "" : " ", option->value);
    }
    for (const auto operand : form.operands) {
        line += fmt::format(" {}", operand);
    }
    return line + (form.command.empty() ? "" : " ") + std::string(form.command);
}

std::string help_of(const command_syntax& syntax) {
    std::string text;
    for (const usage_form& form : syntax.usage) {
        text +=
            fmt::format("{}{}\n", text.empty() ? "Usage: " : "       ", usage_line(syntax, form));
    }
    text += paragraphs(syntax.about);
    for (const auto& group : syntax.options) {
        text += '\n' + options(group);
    }
    text += options(basic_options()) + paragraphs(syntax.notes);
    text += syntax.examples.empty() ? "" : "\nEXAMPLES\n";
    for (const auto example : syntax.examples) {
        text += fmt::format("  {}\n", example);
    }
    if (!syntax.exit_status.empty()) {
        text += '\n' + wrapped("", fmt::format("Exit status: {}, and", syntax.exit_status), 0);
    }
    for (const auto& [status, meaning] : syntax.failures) {
        text += wrapped(fmt::format("{:>5}  ", status), meaning, 7);
    }
    return text;
}

command_syntax program_syntax(std::span<const command_syntax* const> commands) {
    std::vector<described_name> list;
    for (const auto* const one : commands) {
        list.push_back({one->name, one->summary});
    }
    return {.name = program_name,
            .summary = "locks and leader election on Apache ZooKeeper",
            .usage = {{}},
            .about = {{"Locks and leader election on Apache ZooKeeper, for commands and scripts."},
                      {"Commands:", std::move(list)},
                      {"latchkey help COMMAND and latchkey COMMAND --help describe a command."}}};
}

}  // namespace latchkey::cli

#include "options/man_page.hpp"

#include <latchkey/version.hpp>

#include "options/help.hpp"
#include "options/shared_options.hpp"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace latchkey::cli {

namespace {

bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}

bool is_letter(char c) {
    return is_upper(c) || (c >= 'a' && c <= 'z');
}

bool is_of_word(char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
}

/// `text` where roff finds no escape, and prints what stands there. A hyphen stays
/// one between the letters of a `prose` word, and is a minus elsewhere.
std::string literal(std::string_view text, bool prose = false) {
    std::string all;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool hyphen = prose && i > 0 && i + 1 < text.size() && is_letter(text[i - 1]) &&
                            is_letter(text[i + 1]);
        switch (text[i]) {
            case '\\':
                all += "\\e";
                break;
            case '-':
                all += hyphen ? "-" : "\\-";
                break;
            case '\'':
                all += "\\(aq";
                break;
            case '`':
                all += "\\(ga";
                break;
            case '^':
                all += "\\(ha";
                break;
            case '~':
                all += "\\(ti";
                break;
            default:
                all += text[i];
        }
    }
    return all;
}

/// For the begin of a line, which is no request then.
std::string_view guard(std::string_view text) {
    return text.starts_with('.') ? "\\&" : "";
}

std::string bold(std::string_view text) {
    return fmt::format("\\fB{}\\fR", literal(text));
}

std::string italic(std::string_view text) {
    return fmt::format("\\fI{}\\fR", literal(text));
}

/// The names that a page gives to values, such as PATH and CMD.
class value_names {
public:
    explicit value_names(const command_syntax& syntax) {
        for (const usage_form& form : syntax.usage) {
            add_from(usage_line(syntax, form));
        }
        for (const auto& group : syntax.options) {
            for (const option_syntax& one : group) {
                add_from(one.value);
            }
        }
        names_.erase("OPTION");
    }

    [[nodiscard]] bool contain(std::string_view name) const { return names_.contains(name); }

private:
    void add_from(std::string_view text) {
        for (std::size_t end = 0, i = 0; i < text.size(); i = end + 1) {
            end = i;
            while (end < text.size() && is_upper(text[end])) {
                ++end;
            }
            if (end > i) {
                names_.emplace(text.substr(i, end - i));
            }
        }
    }

    std::set<std::string, std::less<>> names_;
};

/// Options bold, and values in italics.
std::string marked(std::string_view text, const value_names& values) {
    std::string all(guard(text));
    std::size_t plain = 0;
    const auto end_of = [text](std::size_t at, auto belongs) {
        while (at < text.size() && belongs(text[at])) {
            ++at;
        }
        return at;
    };
    for (std::size_t i = 0; i < text.size();) {
        const auto dashes = end_of(i, [](char c) { return c == '-'; });
        const bool option = (dashes == i + 1 || dashes == i + 2) && dashes < text.size() &&
                            is_letter(text[dashes]) &&
                            (i == 0 || (!is_of_word(text[i - 1]) && text[i - 1] != '$'));
        const auto word =
            end_of(dashes, [option](char c) { return is_of_word(c) || (option && c == '-'); });
        const auto found = text.substr(i, word - i);
        if (option || (values.contain(found) && (i == 0 || text[i - 1] != '$'))) {
            all += literal(text.substr(plain, i - plain), true);
            all += option ? bold(found) : italic(found);
            plain = word;
        }
        i = std::max(word, i + 1);
    }
    return all + literal(text.substr(plain), true);
}

/// Fixed words bold, values in italics, brackets as they are.
std::string synopsis(std::string_view line) {
    std::string all;
    while (!line.empty()) {
        std::size_t end = 0;
        while (end < line.size() && (is_of_word(line[end]) || line[end] == '-')) {
            ++end;
        }
        const auto word = line.substr(0, std::max<std::size_t>(end, 1));
        all += end == 0 ? literal(word) : is_upper(word[0]) ? italic(word) : bold(word);
        line.remove_prefix(word.size());
    }
    return all;
}

std::string entry(std::string_view label, std::string_view text) {
    return fmt::format(".TP\n{}\n{}\n", label, text);
}

std::string entries(const std::vector<described_name>& list, const value_names& values) {
    std::string text;
    for (const auto& [name, meaning] : list) {
        text += entry(bold(name), marked(meaning, values));
    }
    return text;
}

std::string described(const std::vector<paragraph>& all, const value_names& values) {
    std::string text;
    for (const paragraph& one : all) {
        text += one.text.empty() ? "" : fmt::format(".PP\n{}\n", marked(one.text, values));
        text += entries(one.list, values);
    }
    return text;
}

std::string options_of(const command_syntax& syntax, const value_names& values) {
    std::string text;
    for (const auto& group : syntax.all_options()) {
        for (const option_syntax& one : group) {
            std::string label;
            for (const auto name : one.all_names()) {
                label += (label.empty() ? "" : ", ") + bold(name);
            }
            label += one.value.empty() ? "" : " " + italic(one.value);
            text += entry(label, marked(one.text, values));
        }
    }
    return text;
}

std::string statuses(const command_syntax& syntax, const value_names& values) {
    if (syntax.exit_status.empty()) {
        return {};
    }
    std::string text = marked(syntax.exit_status, values) + ", and:\n";
    for (const auto& [status, meaning] : syntax.failures) {
        text += entry(bold(fmt::to_string(status)), marked(meaning, values));
    }
    return text;
}

std::string environment(const command_syntax& syntax, const value_names& values) {
    std::string text;
    for (const auto& group : syntax.options) {
        for (const option_syntax& one : group) {
            if (one.configurable) {
                text += entry(bold(variable_of(one.key())),
                              fmt::format("The value of {}, if that is not given.",
                                          bold(one.all_names().back())));
            }
        }
    }
    return text + (text.empty() ? "" : entries(connection_environment(), values)) +
           entries(syntax.environment, values);
}

std::string examples(const command_syntax& syntax) {
    std::string text;
    for (const auto example : syntax.examples) {
        text += fmt::format("{}{}\n", guard(example), literal(example));
    }
    return text.empty() ? text : ".nf\n" + text + ".fi\n";
}

std::string page_name(const command_syntax& syntax) {
    return syntax.name == program_name ? "latchkey" : fmt::format("latchkey-{}", syntax.name);
}

std::string pages(std::span<const command_syntax* const> all, const value_names& values) {
    std::string text;
    for (const auto* const one : all) {
        text += fmt::format(
            ".TP\n.BR {} (1)\n{}\n", literal(page_name(*one)), marked(one->summary, values));
    }
    return text;
}

std::string see_also(const command_syntax& syntax, std::span<const command_syntax* const> all) {
    std::vector<std::string> names{"latchkey"};
    for (const auto* const one : all) {
        names.push_back(page_name(*one));
    }
    std::erase(names, page_name(syntax));
    std::sort(names.begin(), names.end());
    std::string text;
    for (const auto& name : names) {
        text += fmt::format("{}.BR {} (1)", text.empty() ? "" : ",\n", literal(name));
    }
    return text + '\n';
}

}  // namespace

std::string man_page(const command_syntax& syntax,
                     std::span<const command_syntax* const> commands,
                     std::string_view date) {
    const value_names values(syntax);
    const std::string name = page_name(syntax);
    std::string upper = name;
    std::transform(upper.begin(), upper.end(), upper.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    std::string page = fmt::format(".TH {} 1 \"{}\" \"Latchkey {}\" \"Latchkey\"\n.nh\n.ad l\n",
                                   literal(upper),
                                   date,
                                   version().library);
    const auto add = [&page](std::string_view title, const std::string& text) {
        page += text.empty() ? "" : fmt::format(".SH {}\n{}", title, text);
    };
    std::string uses;
    for (const usage_form& form : syntax.usage) {
        uses += (uses.empty() ? "" : ".br\n") + synopsis(usage_line(syntax, form)) + '\n';
    }
    add("NAME", fmt::format("{} \\- {}\n", literal(name), literal(syntax.summary, true)));
    add("SYNOPSIS", uses);
    if (syntax.name == program_name) {
        add("DESCRIPTION", described({syntax.about.front()}, values));
        add("COMMANDS", pages(commands, values));
    } else {
        add("DESCRIPTION", described(syntax.about, values) + described(syntax.notes, values));
    }
    add("OPTIONS", options_of(syntax, values));
    add("EXIT STATUS", statuses(syntax, values));
    add("ENVIRONMENT", environment(syntax, values));
    add("EXAMPLES", examples(syntax));
    add("SEE ALSO", see_also(syntax, commands));
    return page;
}

void write_man_pages(const std::string& folder, std::span<const command_syntax* const> commands) {
    const char* const epoch = std::getenv("SOURCE_DATE_EPOCH");
    const std::time_t now = epoch == nullptr ? std::time(nullptr) : std::atoll(epoch);
    const auto date = fmt::format("{:%Y-%m-%d}", fmt::gmtime(now));
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    const auto write = [&](const command_syntax& syntax) {
        const auto file = std::filesystem::path(folder) / (page_name(syntax) + ".1");
        std::ofstream out(file);
        out << man_page(syntax, commands, date);
        if (!out.flush()) {
            throw std::runtime_error("cannot write '" + file.string() + "'");
        }
    };
    write(program_syntax(commands));
    for (const auto* const one : commands) {
        write(*one);
    }
}

}  // namespace latchkey::cli

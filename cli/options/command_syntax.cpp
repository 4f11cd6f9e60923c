#include "options/command_syntax.hpp"

#include <algorithm>

namespace latchkey::cli {

std::vector<std::string_view> option_syntax::all_names() const {
    std::vector<std::string_view> found;
    for (std::string_view left = names; !left.empty();) {
        const auto end = std::min(left.find(", "), left.size());
        found.push_back(left.substr(0, end));
        left.remove_prefix(std::min(end + 2, left.size()));
    }
    return found;
}

bool option_syntax::has_name(std::string_view name) const {
    const auto all = all_names();
    return std::find(all.begin(), all.end(), name) != all.end();
}

std::string_view option_syntax::key() const {
    const auto last = all_names().back();
    return last.substr(last.find_first_not_of('-'));
}

bool command_syntax::runs_command() const {
    return std::any_of(
        usage.begin(), usage.end(), [](const usage_form& form) { return !form.command.empty(); });
}

std::vector<std::vector<option_syntax>> command_syntax::all_options() const {
    auto all = options;
    all.push_back(basic_options());
    return all;
}

const option_syntax* command_syntax::option(std::string_view wanted) const {
    const auto find_in = [wanted](const std::vector<option_syntax>& group) {
        const auto found = std::find_if(
            group.begin(), group.end(), [wanted](const auto& one) { return one.has_name(wanted); });
        return found == group.end() ? nullptr : &*found;
    };
    for (const auto& group : options) {
        if (const auto* const found = find_in(group)) {
            return found;
        }
    }
    return find_in(basic_options());
}

const std::vector<option_syntax>& basic_options() {
    static const std::vector<option_syntax> both{{"-h, --help", "", "print this text"},
                                                 {"-V, --version", "", "print the version"}};
    return both;
}

}  // namespace latchkey::cli

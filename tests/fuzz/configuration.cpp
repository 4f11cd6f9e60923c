#include "input.hpp"
#include "options/acl_text.hpp"
#include "options/config.hpp"
#include "output/exit_status.hpp"
#include "text/escape.hpp"

#include <string>
#include <vector>

// Configuration files, and lists of access as people write them.

namespace {

using namespace latchkey;
using fuzz::require;

const std::vector<std::string_view> names{"servers", "session-timeout", "acl"};

template <class Action>
void refused_in_one_line(Action&& act) {
    try {
        act();
    } catch (const cli::usage_error& e) {
        require(*e.what() != '\0', "a refusal says why");
        require(escaped_message(e.what()) == e.what(), "and can be shown");
    }
}

void check_file(const std::string& text) {
    refused_in_one_line([&] {
        cli::config all(names);
        all.add(text, "f");
        for (const bool chosen : {false, true}) {
            refused_in_one_line([&] {
                all.choose_profile(chosen ? std::optional(cli::setting{"a", "--profile"})
                                          : std::nullopt);
            });
            for (const std::string_view name : names) {
                const auto found = all.find(name);
                require(!found || found->source.starts_with("f:"), "it says where it stands");
            }
            require(!all.find("unknown"), "nothing else is there");
        }
    });
}

void check_acl(const std::string& text) {
    refused_in_one_line([&] {
        const acl all = cli::parse_acl(text);
        require(!all.empty(), "a list has an entry");
        for (const acl_entry& one : all) {
            const auto bits = static_cast<std::int32_t>(one.allowed);
            require(!one.scheme.empty() && bits > 0 && bits <= 31, "an entry allows something");
        }
    });
}

}  // namespace

void fuzz::check_input(std::string_view text) {
    check_file(std::string(text));
    check_acl(std::string(text));
}

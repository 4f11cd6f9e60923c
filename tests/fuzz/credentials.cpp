#include "input.hpp"
#include "options/auth_file.hpp"
#include "output/exit_status.hpp"

#include <algorithm>
#include <regex>

// LATCHKEY_AUTH, or what is in the file of --auth-file: lines "scheme secret".

namespace {

using namespace latchkey;
using fuzz::require;

bool blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

void check(const credentials& c) {
    require(!c.scheme.empty() &&
                std::ranges::none_of(c.scheme,
                                     [](char b) { return b == ' ' || b == '\t' || b == '\n'; }),
            "a scheme is a word");
    require(!c.secret.empty() && !blank(c.secret.front()) && !blank(c.secret.back()),
            "a secret is what stands after it, without blanks around");
    require(c.secret.find('\n') == std::string::npos, "of one line");
    require(c.scheme != "digest" || c.secret.find(':') != std::string::npos, "user and password");
}

}  // namespace

void fuzz::check_input(std::string_view bytes) {
    const std::string text(bytes.substr(0, 4096));
    const auto environment = [&](const char* name) -> std::optional<std::string> {
        return name == std::string_view("LATCHKEY_AUTH") ? std::optional(text) : std::nullopt;
    };
    try {
        const auto found = cli::read_credentials({}, environment);
        const auto lines = fuzz::split(text, '\n');
        require(!found.empty() && found.size() <= lines.size(), "one of a line");
        std::ranges::for_each(found, check);
    } catch (const cli::usage_error& e) {
        static const std::regex harmless(
            "LATCHKEY_AUTH: (line [0-9]+ is not a scheme and its secret; write it as "
            "|holds no line )\"digest USER:PASSWORD\"(; add one)?"
            "|LATCHKEY_AUTH: holds a zero byte: is it a text file\\?");
        require(std::regex_match(e.what(), harmless), "a message never quotes what may be secret");
    }
}

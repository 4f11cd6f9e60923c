#include "options/auth_file.hpp"

#include "options/secret_text.hpp"
#include "output/exit_status.hpp"
#include "text/white_space.hpp"

#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

namespace latchkey::cli {

namespace {

constexpr const char* variable = "LATCHKEY_AUTH";

credentials parse_line(std::string_view line, std::string_view where, int number) {
    const auto space = line.find_first_of(" \t");
    const auto secret = space == std::string_view::npos ? "" : trimmed(line.substr(space));
    const auto scheme = line.substr(0, space);
    const bool digest_without_colon =
        scheme == "digest" && secret.find(':') == std::string_view::npos;
    if (secret.empty() || digest_without_colon) {
        throw usage_error(
            fmt::format("{}: line {} is not a scheme and its secret; write it as "
                        "\"digest USER:PASSWORD\"",
                        where,
                        number));
    }
    return {std::string(scheme), std::string(secret)};
}

std::vector<credentials> parse_lines(std::string_view text, std::string_view where) {
    std::vector<credentials> found;
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (text.starts_with(byte_order_mark)) {
        text.remove_prefix(byte_order_mark.size());
    }
    if (text.find('\0') != std::string_view::npos) {
        throw usage_error(fmt::format("{}: holds a zero byte: is it a text file?", where));
    }
    for (int number = 1; !text.empty(); ++number) {
        const auto end = text.find('\n');
        const auto line = trimmed(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (!line.empty() && line.front() != '#') {
            found.push_back(parse_line(line, where, number));
        }
    }
    if (found.empty()) {
        throw usage_error(
            fmt::format("{}: holds no line \"digest USER:PASSWORD\"; add one", where));
    }
    return found;
}

}  // namespace

std::vector<credentials> read_credentials(const program_options& options,
                                          const environment_lookup& environment) {
    secret_text secret;
    if (options.auth_file) {
        secret.read("--auth-file", *options.auth_file, "lines \"digest USER:PASSWORD\"");
        return parse_lines(secret.text(), "--auth-file");
    }
    if (const auto line = environment(variable)) {
        secret.assign(*line);
        return parse_lines(secret.text(), variable);
    }
    return {};
}

bool has_credentials(const environment_lookup& environment) {
    auto line = environment(variable);
    const bool has_some = line && !trimmed(*line).empty();
    if (line) {
        ::explicit_bzero(line->data(), line->size());
    }
    return has_some;
}

void forget_credentials() {
    if (char* value = std::getenv(variable)) {
        ::explicit_bzero(value, std::strlen(value));
        ::unsetenv(variable);
    }
}

}  // namespace latchkey::cli

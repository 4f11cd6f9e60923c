#include "serve/request_target.hpp"

#include <algorithm>
#include <cstddef>

namespace latchkey::cli {

namespace {

constexpr std::size_t most_parameters = 16;

/// -1: not a hexadecimal digit.
int digit_value(char c) noexcept {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool is_visible_ascii(char c) noexcept {
    return c > ' ' && c <= '~';
}

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text) {
    std::string decoded;
    decoded.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            decoded += text[i] == '+' ? ' ' : text[i];
            continue;
        }
        const int high = i + 1 < text.size() ? digit_value(text[i + 1]) : -1;
        const int low = i + 2 < text.size() ? digit_value(text[i + 2]) : -1;
        if (high < 0 || low < 0) {
            return std::nullopt;
        }
        decoded += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return decoded;
}

const std::string* request_target::find(std::string_view name) const noexcept {
    const auto found = std::find_if(
        parameters.begin(), parameters.end(), [&](const auto& p) { return p.first == name; });
    return found == parameters.end() ? nullptr : &found->second;
}

std::optional<request_target> request_target::parse(std::string_view text) {
    if (!text.starts_with('/') || !std::all_of(text.begin(), text.end(), is_visible_ascii) ||
        text.find('#') != std::string_view::npos) {
        return std::nullopt;
    }
    const auto mark = text.find('?');
    request_target target{.path = std::string(text.substr(0, mark)), .parameters = {}};
    std::string_view query = mark == std::string_view::npos ? "" : text.substr(mark + 1);
    while (!query.empty()) {
        const std::string_view one = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(one.size() + 1, query.size()));
        const auto equals = one.find('=');
        auto name = percent_decoded(one.substr(0, equals));
        auto value =
            percent_decoded(equals == std::string_view::npos ? "" : one.substr(equals + 1));
        const bool valid = name && value && name->find('\0') == std::string::npos &&
                           value->find('\0') == std::string::npos;
        if (!valid || target.parameters.size() == most_parameters) {
            return std::nullopt;
        }
        target.parameters.emplace_back(*std::move(name), *std::move(value));
    }
    return target;
}

}  // namespace latchkey::cli

#include "input.hpp"
#include "serve/loopback_host.hpp"
#include "serve/request_target.hpp"
#include "serve/token.hpp"

#include <algorithm>

// What a client of `latchkey serve` asks for, and the header Host: "TARGET\nHOST".

namespace {

using namespace latchkey;
using fuzz::require;

std::string encoded(const std::string& text) {
    constexpr const char* digits = "0123456789ABCDEF";
    std::string all;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        all += {'%', digits[byte / 16], digits[byte % 16]};
    }
    return all;
}

void check_accepted(const cli::request_target& target, std::string_view text) {
    require(text.starts_with(target.path), "the path is as it was sent");
    require(target.path.find('?') == std::string::npos, "the query is no part of it");
    require(target.parameters.size() <= 16, "there are few parameters");
    std::string again = target.path + '?';
    for (const auto& [name, value] : target.parameters) {
        require(name.find('\0') == std::string::npos && value.find('\0') == std::string::npos,
                "there is no NUL");
        require(target.find(name) != nullptr, "each parameter is found");
        again += encoded(name) + '=' + encoded(value) + '&';
    }
    const auto same = cli::request_target::parse(again);
    require(same && same->path == target.path && same->parameters == target.parameters,
            "decoding undoes encoding");
}

}  // namespace

void fuzz::check_input(std::string_view all) {
    const std::string_view text = all.substr(0, all.find('\n'));
    if (const auto target = cli::request_target::parse(text)) {
        check_accepted(*target, text);
    }
    const std::string plain(text);
    require(cli::percent_decoded(encoded(plain)) == plain, "any text can be encoded");

    const std::string_view host = all.substr(std::min(text.size() + 1, all.size()));
    if (cli::is_loopback_host(host)) {
        require(host.size() <= 21 && host.find_first_of("/@#?% ") == std::string_view::npos,
                "only short names are this machine");
    }
    require(cli::equal_in_constant_time(text, host) == (text == host), "equal is equal");
}

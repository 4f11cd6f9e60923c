#include "ensemble/server/identity.hpp"

#include "tls/digest_identity.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <utility>

namespace latchkey::model {
namespace {

bool is_world(const acl_entry& e) {
    return e.scheme == "world" && e.id == "anyone";
}

/// A number as Java reads it, which may have a sign.
std::optional<int> number_from(std::string_view text, int most) {
    int value = 0;
    if (text.starts_with('+') && !text.substr(1).starts_with('-')) {
        text.remove_prefix(1);
    }
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool valid = error == std::errc() && end == text.data() + text.size();
    return valid && value >= 0 && value <= most ? std::optional(value) : std::nullopt;
}

/// Addresses of IPv4 whose first bits are equal. The servers know no networks of IPv6.
struct network {
    std::uint32_t address = 0;
    std::uint32_t mask = 0;
};

/// "127.0.0.1" or "127.0.0.0/8"
std::optional<network> network_from(std::string_view text) {
    network result{0, UINT32_MAX};
    const std::size_t slash = text.find('/');
    if (slash != std::string_view::npos) {
        const auto bits = number_from(text.substr(slash + 1), 32);
        if (!bits) {
            return std::nullopt;
        }
        result.mask = *bits == 0 ? 0 : UINT32_MAX << (32 - *bits);
        text = text.substr(0, slash);
    }
    for (int part = 0; part < 4; ++part) {
        const std::size_t dot = text.find('.');
        const auto value = number_from(text.substr(0, dot), 255);
        if (!value || (dot == std::string_view::npos) != (part == 3)) {
            return std::nullopt;
        }
        result.address = result.address << 8U | static_cast<std::uint32_t>(*value);
        text.remove_prefix(dot == std::string_view::npos ? text.size() : dot + 1);
    }
    return result;
}

bool is_in(const std::string& address, const std::string& of) {
    const auto one = network_from(address);
    const auto all = network_from(of);
    return one && all && ((one->address ^ all->address) & all->mask) == 0;
}

/// "user:hash"; Java does not count empty parts at the end.
bool is_digest(std::string_view id) {
    while (id.ends_with(':')) {
        id.remove_suffix(1);
    }
    return std::count(id.begin(), id.end(), ':') == 1;
}

bool is_valid(const acl_entry& e) {
    return is_world(e) || (e.scheme == "ip" && network_from(e.id)) ||
           (e.scheme == "digest" && is_digest(e.id));
}

bool is_meant(const identity& i, const acl_entry& e) {
    return i.scheme == e.scheme && (e.scheme == "ip" ? is_in(i.id, e.id) : i.id == e.id);
}

}  // namespace

std::optional<identity> authenticate(const session_options::identity& credentials) {
    if (credentials.scheme != "digest") {
        return std::nullopt;
    }
    auto id = digest_identity(credentials.secret);
    return id ? std::optional(identity{"digest", *std::move(id)}) : std::nullopt;
}

bool permits(const acl& list, permission wanted, const std::vector<identity>& identities) {
    if (list.empty()) {
        return true;
    }
    return std::any_of(list.begin(), list.end(), [&](const acl_entry& e) {
        if (!allows(e.allowed, wanted)) {
            return false;
        }
        return is_world(e) || std::any_of(identities.begin(),
                                          identities.end(),
                                          [&](const identity& i) { return is_meant(i, e); });
    });
}

std::optional<acl> resolve(const acl& list, const std::vector<identity>& identities) {
    acl resolved;
    for (auto e = list.begin(); e != list.end(); ++e) {
        if (std::find(list.begin(), e, *e) != e) {
            continue;
        }
        if (e->scheme != "auth") {
            if (!is_valid(*e)) {
                return std::nullopt;
            }
            resolved.push_back(*e);
            continue;
        }
        const std::size_t before = resolved.size();
        for (const identity& i : identities) {
            if (i.scheme == "digest") {
                resolved.push_back({i.scheme, i.id, e->allowed});
            }
        }
        if (resolved.size() == before) {
            return std::nullopt;
        }
    }
    if (resolved.empty()) {
        return std::nullopt;
    }
    return resolved;
}

std::string user_of(const identity& i) {
    return i.scheme == "digest" ? i.id.substr(0, i.id.find(':')) : i.id;
}

}  // namespace latchkey::model

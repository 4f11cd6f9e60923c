#include "client/access_check.hpp"

#include <latchkey/error.hpp>

#include "text/escape.hpp"
#include "tls/digest_identity.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace latchkey::inline v0 {
namespace {

constexpr auto needed = permission::read | permission::create | permission::remove;

/// A SHA-1 in base64.
bool is_hash(std::string_view text) {
    constexpr std::size_t digits = 27;
    const auto is_digit = [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               c == '+' || c == '/';
    };
    return text.size() == digits + 1 && text.back() == '=' &&
           std::all_of(text.begin(), text.end() - 1, is_digit);
}

std::string_view user_of(const acl_entry& e) {
    return std::string_view(e.id).substr(0, e.id.find(':'));
}

void check_digest(const acl_entry& e) {
    const std::string_view user = user_of(e);
    if (user.size() == e.id.size() || !is_hash(std::string_view(e.id).substr(user.size() + 1))) {
        throw error(errc::invalid_argument,
                    "access control list: the id of the entry for the digest user \"" +
                        escaped(user) +
                        "\" is not USER:HASH with a hash of 28 characters, the last one '=': give "
                        "what `printf %s USER:PASSWORD | openssl dgst -sha1 -binary | base64` "
                        "prints in place of the password");
    }
}

bool may_be_own(const acl_entry& e, const std::vector<credentials>& own) {
    if (e.scheme == "digest") {
        return std::any_of(own.begin(), own.end(), [&e](const credentials& c) {
            return c.scheme == "digest" && digest_identity(c.secret).value_or(e.id) == e.id;
        });
    }
    return e.scheme == "world" ? e.id == "anyone" : e.scheme != "sasl";  // Latchkey has no SASL
}

std::string described(const acl& access) {
    std::string all;
    for (const acl_entry& e : access) {
        all += (all.empty() ? "" : ", ") + escaped(e.scheme) + ':' +
               escaped(e.scheme == "digest" ? user_of(e) : e.id);
    }
    return all.empty() ? "is empty" : "(" + all + ")";
}

std::string names_of(permission missing) {
    std::string all;
    for (const auto& [one, name] : {std::pair{permission::read, "READ"},
                                    std::pair{permission::create, "CREATE"},
                                    std::pair{permission::remove, "DELETE"}}) {
        if (allows(missing, one)) {
            all += (all.empty() ? "" : ", ") + std::string(name);
        }
    }
    return all;
}

}  // namespace

void check_access(const acl& access, const std::vector<credentials>& own) {
    auto missing = static_cast<std::int32_t>(needed);
    for (const acl_entry& e : access) {
        if (e.scheme == "digest") {
            check_digest(e);
        }
        if (may_be_own(e, own)) {
            missing &= ~static_cast<std::int32_t>(e.allowed);
        }
    }
    if (missing != 0) {
        throw error(errc::invalid_argument,
                    "access control list " + described(access) + ": it does not give this client " +
                        names_of(static_cast<permission>(missing)) +
                        ", so what it creates would be closed to it, and perhaps to everybody, for "
                        "good: add an entry for one of its own identities, for example the "
                        "creator's (scheme auth), with READ, CREATE and DELETE");
    }
}

}  // namespace latchkey::inline v0

#include "ensemble/server/identity.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include <boost/uuid/detail/sha1.hpp>

namespace latchkey::model {
namespace {

std::array<std::uint8_t, 20> sha1(std::string_view text) {
    boost::uuids::detail::sha1 hash;
    hash.process_bytes(text.data(), text.size());
    boost::uuids::detail::sha1::digest_type words;
    hash.get_digest(words);
    std::array<std::uint8_t, 20> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::uint8_t>(words[i / 4] >> (24U - 8U * (i % 4)));
    }
    return bytes;
}

std::string base64(const std::array<std::uint8_t, 20>& bytes) {
    constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t group = 0;
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
        for (std::size_t k = 0; k < 3; ++k) {
            group = (group << 8U) | (k < count ? bytes[i + k] : 0U);
        }
        for (std::size_t k = 0; k < 4; ++k) {
            text += k <= count ? digits[(group >> (18U - 6U * k)) & 63U] : '=';
        }
    }
    return text;
}

bool is_world(const acl_entry& e) {
    return e.scheme == "world" && e.id == "anyone";
}

}  // namespace

std::string digest_id(const std::string& user_and_password) {
    return user_and_password.substr(0, user_and_password.find(':')) + ':' +
           base64(sha1(user_and_password));
}

std::optional<identity> authenticate(const session_options::identity& credentials) {
    if (credentials.scheme != "digest") {
        return std::nullopt;
    }
    return identity{"digest", digest_id(credentials.secret)};
}

bool permits(const acl& list, permission wanted, const std::vector<identity>& identities) {
    if (list.empty()) {
        return true;
    }
    return std::any_of(list.begin(), list.end(), [&](const acl_entry& e) {
        if (!allows(e.allowed, wanted)) {
            return false;
        }
        return is_world(e) ||
               std::any_of(identities.begin(), identities.end(), [&](const identity& i) {
                   return i.scheme == e.scheme && i.id == e.id;
               });
    });
}

std::optional<acl> resolve(const acl& list, const std::vector<identity>& identities) {
    acl resolved;
    for (const acl_entry& e : list) {
        if (e.scheme == "auth") {
            const std::size_t before = resolved.size();
            for (const identity& i : identities) {
                if (i.scheme == "digest") {
                    resolved.push_back({i.scheme, i.id, e.allowed});
                }
            }
            if (resolved.size() == before) {
                return std::nullopt;
            }
        } else if (is_world(e) || (e.scheme == "ip" && !e.id.empty()) ||
                   (e.scheme == "digest" && std::count(e.id.begin(), e.id.end(), ':') == 1)) {
            resolved.push_back(e);
        } else {
            return std::nullopt;
        }
    }
    if (resolved.empty()) {
        return std::nullopt;
    }
    return resolved;
}

}  // namespace latchkey::model

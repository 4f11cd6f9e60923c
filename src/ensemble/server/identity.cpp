#include "ensemble/server/identity.hpp"

#include "tls/openssl.hpp"

#include <algorithm>
#include <array>

namespace latchkey::model {
namespace {

bool is_world(const acl_entry& e) {
    return e.scheme == "world" && e.id == "anyone";
}

}  // namespace

std::optional<identity> authenticate(const session_options::identity& credentials) {
    if (credentials.scheme != "digest") {
        return std::nullopt;
    }
    const std::string& secret = credentials.secret;
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    std::array<unsigned char, 2 * EVP_MAX_MD_SIZE> text{};
    unsigned size = 0;
    prepare_openssl();
    const openssl_use use;
    if (!use ||
        EVP_Digest(secret.data(), secret.size(), digest.data(), &size, EVP_sha1(), nullptr) != 1) {
        return std::nullopt;
    }
    EVP_EncodeBlock(text.data(), digest.data(), static_cast<int>(size));
    const std::string user = secret.substr(0, secret.find(':'));
    return identity{"digest", user + ':' + reinterpret_cast<const char*>(text.data())};
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

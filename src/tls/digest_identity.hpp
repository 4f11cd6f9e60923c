#pragma once

#include "tls/openssl.hpp"

#include <array>
#include <optional>
#include <string>

namespace latchkey::inline v0 {

/// What the servers make of "user:password": "user:" and the SHA-1 of all of it in base64, as an
/// access control list has it. Nothing if OpenSSL cannot compute it.
[[nodiscard]] inline std::optional<std::string> digest_identity(const std::string& secret) {
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
    return secret.substr(0, secret.find(':')) + ':' + reinterpret_cast<const char*>(text.data());
}

}  // namespace latchkey::inline v0

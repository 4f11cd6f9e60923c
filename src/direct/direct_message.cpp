#include "direct/direct_message.hpp"

#include "datagram/datagram_socket.hpp"
#include "tls/openssl.hpp"

#include <algorithm>

#include <openssl/crypto.h>
#include <openssl/hmac.h>

namespace latchkey::inline v0 {
namespace {

// "latchkey", a version, the kind, and two names, each behind its length: one byte each. Then the
// text.
constexpr std::string_view magic = "latchkey\x01";
static_assert(magic.size() == direct_kind_at);
constexpr std::size_t seal_size = 16;
constexpr std::size_t guid_size = 36;

bool seal(std::string_view text, std::string_view key, unsigned char* to) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> whole{};
    unsigned size = 0;
    const openssl_use use;
    if (!use || ::HMAC(::EVP_sha256(),
                       key.data(),
                       static_cast<int>(key.size()),
                       reinterpret_cast<const unsigned char*>(text.data()),  // NOLINT: bytes
                       text.size(),
                       whole.data(),
                       &size) == nullptr) {
        return false;
    }
    std::copy_n(whole.begin(), seal_size, to);
    return true;
}

std::optional<std::string> take_name(std::string_view& rest) {
    const std::size_t size = rest.empty() ? 0 : static_cast<unsigned char>(rest.front());
    if (size == 0 || size > longest_direct_name || rest.size() < size + 1) {
        return std::nullopt;
    }
    std::string name(rest.substr(1, size));
    rest.remove_prefix(size + 1);
    return name;
}

}  // namespace

std::string_view bytes_of(const direct_key& key) noexcept {
    return {reinterpret_cast<const char*>(key.data()), key.size()};  // NOLINT: bytes
}

std::string write_direct_message(const direct_message& m, const direct_key& key) {
    std::string text(magic);
    text += static_cast<char>(m.what);
    for (const std::string* name : {&m.ahead, &m.behind}) {
        if (name->empty() || name->size() > longest_direct_name) {
            return {};
        }
        text += static_cast<char>(name->size());
        text += *name;
    }
    text += m.text;
    std::array<unsigned char, seal_size> sealed{};
    if (!seal(text, bytes_of(key), sealed.data())) {
        return {};
    }
    text.append(sealed.begin(), sealed.end());
    return text.size() <= longest_datagram ? text : std::string();
}

std::optional<direct_message> read_direct_message(std::string_view datagram) {
    if (!datagram.starts_with(magic) || datagram.size() < magic.size() + 1 + seal_size) {
        return std::nullopt;
    }
    const auto kind = static_cast<direct_message::kind>(datagram[magic.size()]);
    std::string_view rest =
        datagram.substr(magic.size() + 1, datagram.size() - magic.size() - 1 - seal_size);
    auto ahead = take_name(rest);
    auto behind = ahead ? take_name(rest) : std::nullopt;
    const bool known = kind >= direct_message::kind::waits && kind <= direct_message::kind::answers;
    if (!known || !behind) {
        return std::nullopt;
    }
    return direct_message{kind, *std::move(ahead), *std::move(behind), std::string(rest)};
}

bool authenticates(std::string_view datagram, const direct_key& key) {
    std::array<unsigned char, seal_size> sealed{};
    const std::size_t size = datagram.size() - seal_size;
    return seal(datagram.substr(0, size), bytes_of(key), sealed.data()) &&
           ::CRYPTO_memcmp(sealed.data(), datagram.data() + size, seal_size) == 0;
}

std::optional<direct_key> derived_key(std::string_view secret, std::string_view purpose) {
    direct_key key{};
    return seal(purpose, secret, key.data()) ? std::optional(key) : std::nullopt;
}

std::optional<direct_key> direct_key_of(std::string_view secret, std::string_view name) {
    constexpr std::string_view protection = "_c_";
    return name.starts_with(protection) && name.size() > protection.size() + guid_size
               ? derived_key(secret, name.substr(protection.size(), guid_size))
               : std::nullopt;
}

std::string to_hex(const direct_key& key) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const unsigned char byte : key) {
        text += digits[byte >> 4U];
        text += digits[byte & 0xFU];
    }
    return text;
}

std::optional<direct_key> direct_key_from_hex(std::string_view text) {
    const auto digit = [](char c) -> int {
        return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    };
    direct_key key{};
    if (text.size() != key.size() * 2) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < key.size(); ++i) {
        const int high = digit(text[2 * i]);
        const int low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0) {
            return std::nullopt;
        }
        key[i] = static_cast<unsigned char>(high * 16 + low);
    }
    return key;
}

}  // namespace latchkey::inline v0

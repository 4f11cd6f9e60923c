#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace latchkey::inline v0 {

/// Known to a client and to those that may read its participant's znode.
using direct_key = std::array<unsigned char, 16>;

/// What one participant tells the one next to it, in a datagram. The names are those of their
/// znodes, which no other znode ever has: they contain a GUID.
struct direct_message {
    enum class kind : std::uint8_t {
        waits = 1,     ///< `behind` waits for `ahead`, and can be reached where this comes from
        hands_on = 2,  ///< `ahead` holds no more, and nothing of what it sent is unanswered
        asks = 3,      ///< `behind` wants to know whether datagrams reach the client of `ahead`
        answers = 4,   ///< they do
    };

    kind what = kind::waits;
    std::string ahead;
    std::string behind;
    std::string text = {};  ///< of the one ahead, if its recipe has something to tell

    bool operator==(const direct_message&) const = default;
};

/// Where the kind stands in a datagram.
inline constexpr std::size_t direct_kind_at = 9;

/// How long a name may be in a message.
inline constexpr std::size_t longest_direct_name = 200;

/// Authenticated by the key of `ahead` (HMAC-SHA-256, of which the first half). Empty if it does
/// not fit in a datagram, or if OpenSSL is gone.
[[nodiscard]] std::string write_direct_message(const direct_message& m, const direct_key& key);

/// Nothing if it is no such message. It is not to be believed before authenticates() has agreed.
[[nodiscard]] std::optional<direct_message> read_direct_message(std::string_view datagram);

/// Whether the datagram, which read_direct_message() has read, is of one who knows the key.
[[nodiscard]] bool authenticates(std::string_view datagram, const direct_key& key);

/// A key for one purpose, from a secret. Nothing if OpenSSL is gone.
[[nodiscard]] std::optional<direct_key> derived_key(std::string_view secret,
                                                    std::string_view purpose);

/// The key of the participants whose names begin with "_c_<guid>-", from the secret of their
/// client. Nothing if the name does not begin like that, or if OpenSSL is gone.
[[nodiscard]] std::optional<direct_key> direct_key_of(std::string_view secret,
                                                      std::string_view name);

/// As a secret of which other keys are made.
[[nodiscard]] std::string_view bytes_of(const direct_key& key) noexcept;

[[nodiscard]] std::string to_hex(const direct_key& key);

/// Nothing if the text is no key.
[[nodiscard]] std::optional<direct_key> direct_key_from_hex(std::string_view text);

}  // namespace latchkey::inline v0

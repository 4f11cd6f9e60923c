#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>

namespace latchkey::inline v0 {

/// So many a client may have.
inline constexpr std::size_t most_datagram_addresses = 4;

/// Where a client listens for direct messages: a numeric address, and the ports of which it takes
/// the first that is free. 0: one that the system chooses.
struct datagram_address {
    std::string host;  ///< IPv6 without brackets
    std::uint16_t first_port = 0;
    std::uint16_t last_port = 0;

    bool operator==(const datagram_address&) const = default;
};

/// Reads "10.1.2.3:0", "[::1]:4000" or "10.1.2.3:4000-4100". Throws errc::invalid_argument.
[[nodiscard]] datagram_address parse_datagram_address(std::string_view text);

/// As parse_datagram_address(), for all of them.
[[nodiscard]] std::vector<datagram_address> parse_datagram_addresses(
    const std::vector<std::string>& all);

/// An address and a port as the system's calls take them.
struct socket_address {
    sockaddr_storage storage{};
    socklen_t size = 0;

    [[nodiscard]] const sockaddr* get() const noexcept {
        return reinterpret_cast<const sockaddr*>(&storage);  // NOLINT: so the system declares it
    }

    [[nodiscard]] sockaddr* get() noexcept {
        return reinterpret_cast<sockaddr*>(&storage);  // NOLINT: so the system declares it
    }

    [[nodiscard]] int family() const noexcept { return storage.ss_family; }
};

/// Its `size` is 0 if `host` is no numeric address.
[[nodiscard]] socket_address socket_address_of(const std::string& host, std::uint16_t port);

/// "10.1.2.3:4000" or "[::1]:4000"; empty if it is neither IPv4 nor IPv6.
[[nodiscard]] std::string text_of(const socket_address& a);

}  // namespace latchkey::inline v0

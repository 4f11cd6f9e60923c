#pragma once

#include "datagram/datagram_address.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::inline v0 {

/// What a datagram may contain at most: it is not split on its way.
inline constexpr std::size_t longest_datagram = 512;

/// Sends and receives datagrams, which may be lost, doubled, late, and of anybody. Made on any
/// thread; otherwise on the loop only.
class datagram_socket {
public:
    using receiver = std::function<void(const std::string& from, std::string_view message)>;

    datagram_socket() = default;
    datagram_socket(const datagram_socket&) = delete;
    datagram_socket& operator=(const datagram_socket&) = delete;
    /// Nothing is called after that.
    virtual ~datagram_socket() = default;

    /// Where others reach it, each as "address:port".
    [[nodiscard]] virtual const std::vector<std::string>& addresses() const noexcept = 0;

    /// 32 bytes that nobody can guess.
    [[nodiscard]] virtual std::string new_secret() = 0;

    /// Begins to call `r` for each datagram. Once.
    virtual void receive(receiver r) = 0;

    /// Sends to such an address. Without effect if that cannot be done at once.
    virtual void send(const std::string& to, std::string_view message) = 0;
};

/// Opens a socket that listens at each of these addresses. Throws errc::invalid_argument for one
/// that this host does not have, or whose ports are all taken.
using datagram_opener =
    std::function<std::unique_ptr<datagram_socket>(const std::vector<datagram_address>& at)>;

}  // namespace latchkey::inline v0

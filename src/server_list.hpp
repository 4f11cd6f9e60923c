#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey {

/// One address of one server.
struct server_address {
    std::string address;  ///< numeric; IPv6 without brackets
    std::uint16_t port = 0;
    std::string name;  ///< as configured, for people

    /// `name (address):port`, or `address:port` where the address is all there is.
    [[nodiscard]] std::string described() const;
};

/// The servers of one handle of the C client, in the order in which they shall be tried.
///
/// The C client is given numeric addresses only, because it resolves names on its event thread,
/// again for each request. After a connection has failed it skips every second address
/// (ZOOKEEPER-2466), so it is given an odd number of them: then it comes to all.
class server_list {
public:
    server_list() = default;

    /// Drops duplicates and shuffles with `random`.
    server_list(std::vector<server_address> addresses,
                const std::function<std::uint64_t()>& random);

    [[nodiscard]] bool empty() const noexcept { return order_.empty(); }

    /// How many different addresses there are.
    [[nodiscard]] std::size_t size() const noexcept { return order_.size(); }

    /// How many attempts visit each of them at least once: size(), made odd.
    [[nodiscard]] std::size_t round() const noexcept { return order_.size() | 1U; }

    /// In the order in which they shall be tried.
    [[nodiscard]] const std::vector<server_address>& order() const noexcept { return order_; }

    /// Whether the other one has the same addresses, in whatever order.
    [[nodiscard]] bool same_servers(const server_list& other) const;

    /// What the C client takes: `address:port,...` in order, the first repeated at the end if that
    /// makes their number odd.
    [[nodiscard]] std::string connect_string() const;

    /// For people: the server that the C client calls `endpoint`, which is its own way to write an
    /// address and port.
    [[nodiscard]] std::string described(std::string_view endpoint) const;

private:
    std::vector<server_address> order_;
};

}  // namespace latchkey

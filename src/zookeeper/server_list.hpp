#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {

/// One address of one server.
struct server_address {
    std::string address;  ///< numeric; IPv6 without brackets
    std::uint16_t port = 0;
    std::string name;  ///< as configured, for people

    /// The form that the C client takes: `address:port`, IPv6 without brackets.
    [[nodiscard]] std::string endpoint() const;

    /// `name (address):port`, or `address:port` if there is no name.
    [[nodiscard]] std::string described() const;
};

/// The addresses of the servers in the order in which they are tried, again and again.
class server_list {
public:
    server_list() = default;

    server_list(std::vector<server_address> addresses,
                const std::function<std::uint64_t()>& random) {
        replace(std::move(addresses), random);
    }

    /// From now on these, each once. New ones come first, in random order; the others follow in the
    /// order in which they would have been tried.
    void replace(std::vector<server_address> addresses,
                 const std::function<std::uint64_t()>& random);

    [[nodiscard]] bool empty() const noexcept { return order_.empty(); }

    /// The number of different addresses.
    [[nodiscard]] std::size_t size() const noexcept { return order_.size(); }

    /// The next address to try; after the last one comes the first. There must be one.
    [[nodiscard]] const server_address& next() {
        const server_address& one = order_[next_ % order_.size()];
        ++next_;
        return one;
    }

private:
    std::vector<server_address> order_;
    std::size_t next_ = 0;
};

}  // namespace latchkey::inline v0

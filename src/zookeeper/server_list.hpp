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
    std::string name;  ///< as configured: for people, and for TLS, which verifies it

    /// The form that the C client takes: `address:port`, IPv6 without brackets.
    [[nodiscard]] std::string endpoint() const;

    /// `name (address):port`, or `address:port` if there is no name.
    [[nodiscard]] std::string described() const;
};

/// The addresses of the servers in the order in which they are tried, again and again.
class server_list {
public:
    /// `names_count`: an address is tried by each of its names, because the server must prove that
    /// it is the one of that name. Otherwise it is tried once.
    explicit server_list(bool names_count = false) noexcept : names_count_(names_count) {}

    server_list(std::vector<server_address> addresses,
                const std::function<std::uint64_t()>& random) {
        replace(std::move(addresses), random);
    }

    /// From now on these, each once, by their present names. New ones come first, in random order;
    /// the others follow in the order in which they would have been tried.
    void replace(std::vector<server_address> addresses,
                 const std::function<std::uint64_t()>& random);

    [[nodiscard]] bool empty() const noexcept { return order_.empty(); }

    /// How many there are to try.
    [[nodiscard]] std::size_t size() const noexcept { return order_.size(); }

    /// The next address to try; after the last one comes the first. There must be one.
    [[nodiscard]] const server_address& next() {
        const server_address& one = order_[next_ % order_.size()];
        ++next_;
        return one;
    }

private:
    bool names_count_ = false;
    std::vector<server_address> order_;
    std::size_t next_ = 0;
};

}  // namespace latchkey::inline v0

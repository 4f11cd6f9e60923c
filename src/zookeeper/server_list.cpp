#include "zookeeper/server_list.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v0 {
namespace {

bool same_endpoint(const server_address& a, const server_address& b) {
    return a.port == b.port && a.address == b.address;
}

bool is_v6(const server_address& a) {
    return a.address.find(':') != std::string::npos;
}

std::string bracketed(const server_address& a) {
    return is_v6(a) ? "[" + a.address + "]" : a.address;
}

}  // namespace

std::string server_address::endpoint() const {
    return address + ":" + std::to_string(port);
}

std::string server_address::described() const {
    const std::string numeric = bracketed(*this);
    const std::string host =
        name.empty() || name == address ? numeric : name + " (" + numeric + ")";
    return host + ":" + std::to_string(port);
}

server_list::server_list(std::vector<server_address> addresses,
                         const std::function<std::uint64_t()>& random) {
    for (auto& a : addresses) {
        const auto known = std::find_if(order_.begin(), order_.end(), [&a](const auto& other) {
            return same_endpoint(a, other);
        });
        if (known == order_.end()) {
            order_.push_back(std::move(a));
        }
    }
    for (std::size_t left = order_.size(); left > 1; --left) {
        std::swap(order_[left - 1], order_[static_cast<std::size_t>(random() % left)]);
    }
}

bool server_list::same_servers(const server_list& other) const {
    return std::is_permutation(
        order_.begin(), order_.end(), other.order_.begin(), other.order_.end(), &same_endpoint);
}

}  // namespace latchkey::inline v0

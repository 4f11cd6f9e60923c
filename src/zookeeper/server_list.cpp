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

void server_list::replace(std::vector<server_address> addresses,
                          const std::function<std::uint64_t()>& random) {
    const auto find = [this](const std::vector<server_address>& all, const server_address& a) {
        const auto found = std::find_if(all.begin(), all.end(), [&](const server_address& other) {
            return same_endpoint(a, other) && (!names_count_ || a.name == other.name);
        });
        return found == all.end() ? nullptr : &*found;
    };
    if (!order_.empty()) {
        std::rotate(order_.begin(),
                    order_.begin() + static_cast<std::ptrdiff_t>(next_ % order_.size()),
                    order_.end());
    }
    next_ = 0;
    std::erase_if(order_, [&](const server_address& a) { return !find(addresses, a); });
    for (auto& a : order_) {
        a.name = find(addresses, a)->name;  // names exchange their addresses
    }
    std::vector<server_address> fresh;
    for (auto& a : addresses) {
        if (!find(order_, a) && !find(fresh, a)) {
            fresh.push_back(std::move(a));
        }
    }
    for (std::size_t left = fresh.size(); left > 1; --left) {
        std::swap(fresh[left - 1], fresh[static_cast<std::size_t>(random() % left)]);
    }
    order_.insert(order_.begin(), fresh.begin(), fresh.end());
}

}  // namespace latchkey::inline v0

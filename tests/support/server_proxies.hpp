#pragma once

#include "real_ensemble.hpp"

#include <memory>
#include <string>
#include <vector>

namespace latchkey::test {

/// A proxy before each of the servers.
template <class Proxy>
class server_proxies {
public:
    explicit server_proxies(const real_ensemble& servers) {
        for (int server = 1; server <= servers.size(); ++server) {
            proxies_.push_back(std::make_unique<Proxy>(servers.address(server)));
            addresses_ += (server == 1 ? "" : ",") + proxies_.back()->address();
        }
    }

    /// For clients.
    [[nodiscard]] const std::string& addresses() const { return addresses_; }

    [[nodiscard]] std::size_t size() const { return proxies_.size(); }

    [[nodiscard]] auto begin() const { return proxies_.begin(); }

    [[nodiscard]] auto end() const { return proxies_.end(); }

private:
    std::vector<std::unique_ptr<Proxy>> proxies_;
    std::string addresses_;
};

}  // namespace latchkey::test

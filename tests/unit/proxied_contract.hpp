#pragma once

#include "session/runtime.hpp"
#include "session_contract.hpp"
#include "tcp_proxy.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {

/// A client that uses the C client on servers that listen on ports, with a proxy before each of
/// them.
class proxied_client : public contract_client {
public:
    /// `servers`: "host:port" of each.
    proxied_client(const std::vector<std::string>& servers,
                   std::function<void(std::int64_t)> expire)
        : expire_(std::move(expire)) {
        for (const std::string& server : servers) {
            proxies_.push_back(std::make_unique<tcp_proxy>(server));
        }
    }

    [[nodiscard]] runtime surroundings() override { return process_runtime(); }

    [[nodiscard]] std::vector<session_options::endpoint> servers() override {
        std::vector<session_options::endpoint> all;
        for (const auto& proxy : proxies_) {
            const std::string& address = proxy->address();
            const std::size_t colon = address.rfind(':');
            all.push_back({address.substr(0, colon),
                           static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1)))});
        }
        return all;
    }

    void cut_off(std::int64_t) override {
        for (const auto& proxy : proxies_) {
            proxy->refuse();
            proxy->cut(tcp_proxy::ending::fin);
        }
    }

    void let_back(std::int64_t) override {
        for (const auto& proxy : proxies_) {
            proxy->pass();
        }
    }

    void expire(std::int64_t session) override { expire_(session); }

private:
    std::function<void(std::int64_t)> expire_;
    std::vector<std::unique_ptr<tcp_proxy>> proxies_;
};

}  // namespace latchkey::test

#pragma once

#include <latchkey/ensemble.hpp>

#include "eventually.hpp"
#include "session/runtime.hpp"
#include "session_contract.hpp"
#include "tcp_proxy.hpp"
#include "words.hpp"

#include <chrono>
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

/// An in-process ensemble that is reached through its ports, by the C client.
class served_contract : public contract_ensemble {
public:
    explicit served_contract(bool exists_needs_read = true)
        : exists_needs_read_(exists_needs_read), ensemble_(quick_ticks(exists_needs_read)) {
        addresses_ = parts_of(ensemble_.serve(), ',');
    }

    [[nodiscard]] std::unique_ptr<contract_client> make_client() override {
        return std::make_unique<proxied_client>(addresses_, expire());
    }

    [[nodiscard]] std::chrono::milliseconds timeout() override { return std::chrono::seconds(12); }

    [[nodiscard]] std::string fresh_path() override { return "/test"; }

    [[nodiscard]] bool exists_needs_read() override { return exists_needs_read_; }

    [[nodiscard]] bool wait(const std::function<bool()>& done) override {
        return eventually(done, std::chrono::seconds(60));
    }

protected:
    [[nodiscard]] std::function<void(std::int64_t)> expire() {
        return [this](std::int64_t session) { ensemble_.expire(session); };
    }

    std::vector<std::string> addresses_;

private:
    static testing::ensemble::options quick_ticks(bool exists_needs_read) {
        testing::ensemble::options how;
        how.exists_needs_read = exists_needs_read;
        how.one_way = {};
        how.tick = std::chrono::milliseconds(200);
        how.max_session_timeout = std::chrono::seconds(12);
        return how;
    }

    const bool exists_needs_read_;
    testing::ensemble ensemble_;
};

}  // namespace latchkey::test

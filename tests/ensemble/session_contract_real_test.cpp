#include "../unit/session_contract.hpp"
#include "eventually.hpp"
#include "real_ensemble.hpp"
#include "tcp_proxy.hpp"
#include "world.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

/// A client of real servers, with a proxy before each of them.
class real_client final : public contract_client {
public:
    explicit real_client(const real_ensemble& servers) : servers_(servers) {
        for (int i = 1; i <= servers.size(); ++i) {
            proxies_.push_back(std::make_unique<tcp_proxy>(servers.address(i)));
        }
    }

    [[nodiscard]] environment surroundings() override { return process_environment(); }

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

    void expire(std::int64_t session) override { end_session(servers_.address(1), session); }

private:
    const real_ensemble& servers_;
    std::vector<std::unique_ptr<tcp_proxy>> proxies_;
};

class real final : public contract_ensemble {
public:
    [[nodiscard]] std::unique_ptr<contract_client> make_client() override {
        return std::make_unique<real_client>(servers_);
    }

    [[nodiscard]] std::chrono::milliseconds timeout() override { return 4s; }

    [[nodiscard]] std::string fresh_path() override { return real_ensemble::fresh_path(); }

    [[nodiscard]] bool wait(const std::function<bool()>& done) override {
        return eventually(done, 60s);
    }

private:
    real_ensemble& servers_ = real_ensemble::shared();
};

INSTANTIATE_TEST_SUITE_P(RealServers,
                         SessionContract,
                         ::testing::Values(contract_parameter{
                             "Shared", [] { return std::make_unique<real>(); }}),
                         [](const auto& p) { return p.param.name; });

}  // namespace
}  // namespace latchkey::test

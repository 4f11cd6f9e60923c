#include "../unit/proxied_contract.hpp"
#include "eventually.hpp"
#include "real_ensemble.hpp"
#include "world.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

class real final : public contract_ensemble {
public:
    [[nodiscard]] std::unique_ptr<contract_client> make_client() override {
        std::vector<std::string> addresses;
        for (int i = 1; i <= servers_.size(); ++i) {
            addresses.push_back(servers_.address(i));
        }
        return std::make_unique<proxied_client>(
            addresses, [this](std::int64_t session) { end_session(servers_.address(1), session); });
    }

    [[nodiscard]] std::chrono::milliseconds timeout() override { return 12s; }

    [[nodiscard]] std::string fresh_path() override { return real_ensemble::fresh_path(); }

    [[nodiscard]] bool exists_needs_read() override { return servers_.exists_needs_read(); }

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

#include "../unit/wire_contract.hpp"
#include "real_ensemble.hpp"

namespace latchkey::test {
namespace {

class real_servers final : public wire_servers {
public:
    [[nodiscard]] std::string address() override { return servers_.address(1); }

    [[nodiscard]] bool newer() override { return servers_.exists_needs_read(); }

    [[nodiscard]] std::string fresh_path() override { return real_ensemble::fresh_path(); }

private:
    real_ensemble& servers_ = real_ensemble::shared();
};

const auto shared_servers =
    ::testing::Values(wire_parameter{"Shared", [] { return std::make_unique<real_servers>(); }});

INSTANTIATE_TEST_SUITE_P(RealServers, WireContract, shared_servers, [](const auto& p) {
    return p.param.name;
});
INSTANTIATE_TEST_SUITE_P(RealServers, WireContractEvents, shared_servers, [](const auto& p) {
    return p.param.name;
});

}  // namespace
}  // namespace latchkey::test

#include <latchkey/ensemble.hpp>

#include "wire_contract.hpp"

namespace latchkey::test {
namespace {

class served_ensemble final : public wire_servers {
public:
    [[nodiscard]] std::string address() override { return address_; }

    [[nodiscard]] bool newer() override { return true; }

    [[nodiscard]] std::string fresh_path() override { return "/test"; }

private:
    [[nodiscard]] static testing::ensemble::options one() {
        testing::ensemble::options how;
        how.servers = 1;
        how.one_way = {};
        return how;
    }

    testing::ensemble servers_{one()};
    const std::string address_ = servers_.serve();
};

const auto served =
    ::testing::Values(wire_parameter{"Ports", [] { return std::make_unique<served_ensemble>(); }});

INSTANTIATE_TEST_SUITE_P(Served, WireContract, served, [](const auto& p) { return p.param.name; });
INSTANTIATE_TEST_SUITE_P(Served, WireContractEvents, served, [](const auto& p) {
    return p.param.name;
});

}  // namespace
}  // namespace latchkey::test

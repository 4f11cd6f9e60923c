#include "proxied_contract.hpp"

#include <memory>

namespace latchkey::test {
namespace {

INSTANTIATE_TEST_SUITE_P(
    Served,
    SessionContract,
    ::testing::Values(
        contract_parameter{"Ports", [] { return std::make_unique<served_contract>(true); }},
        contract_parameter{"OlderPorts", [] { return std::make_unique<served_contract>(false); }}),
    [](const auto& p) { return p.param.name; });

}  // namespace
}  // namespace latchkey::test

#include "mutants.hpp"

#include "mutants_check.hpp"

#include <string>

#include <gtest/gtest.h>

namespace latchkey::simulation {
namespace {

class TestedMutant : public ::testing::TestWithParam<mutant_description> {};

TEST_P(TestedMutant, IsKilled) {
    expect_killed(GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, TestedMutant, ::testing::ValuesIn(all_mutants), [](const auto& i) {
    return std::string(i.param.id);
});

}  // namespace
}  // namespace latchkey::simulation

#include "real_ensemble.hpp"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

TEST(SharedEnsemble, ServesOnEveryServer) {
    const real_ensemble& ensemble = real_ensemble::shared();
    for (int server = 1; server <= ensemble.size(); ++server) {
        EXPECT_THAT(ensemble.mode(server), testing::Not(testing::IsEmpty()))
            << ensemble.address(server);
    }
    EXPECT_GE(ensemble.leader(), 1);
}

TEST(SharedEnsemble, GivesEachTestAPathOfItsOwn) {
    EXPECT_NE(real_ensemble::fresh_path(), real_ensemble::fresh_path());
}

}  // namespace
}  // namespace latchkey::test

#include <latchkey/client.hpp>
#include <latchkey/mutex.hpp>

#include "eventually.hpp"
#include "real_ensemble.hpp"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

TEST(SharedEnsemble, ServesOnEveryServer) {
    const real_ensemble& ensemble = real_ensemble::shared();
    for (int server = 1; server <= ensemble.size(); ++server) {
        EXPECT_TRUE(eventually([&] { return !ensemble.mode(server).empty(); }))
            << ensemble.address(server);
    }
    EXPECT_GE(ensemble.leader(), 1);
}

// A test may empty its directory and look at it later, on a slow machine much later.
TEST(SharedEnsemble, KeepsDirectoriesThatAreEmpty) {
    client c = client::connect(real_ensemble::shared().connect_string());
    const std::string path = real_ensemble::fresh_path();
    ASSERT_TRUE(mutex(c, path).acquire().release_and_wait());
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
    while (std::chrono::steady_clock::now() < end) {
        ASSERT_TRUE(c.exists(path, read_from::quorum));
        work_for(std::chrono::milliseconds(100));
    }
}

TEST(SharedEnsemble, GivesEachTestAPathOfItsOwn) {
    EXPECT_NE(real_ensemble::fresh_path(), real_ensemble::fresh_path());
}

}  // namespace
}  // namespace latchkey::test

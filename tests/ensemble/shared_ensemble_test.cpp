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

}  // namespace
}  // namespace latchkey::test

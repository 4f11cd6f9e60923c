#pragma once

#include <latchkey/mutex.hpp>

#include "eventually.hpp"
#include "loop/blocking_result.hpp"
#include "world.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace latchkey::test {

using namespace std::chrono_literals;

/// The world of the program that the suites are linked into.
[[nodiscard]] world_kind this_world();

/// The suites of the recipes run in each world.
class RecipeTest : public ::testing::TestWithParam<world_kind> {
protected:
    /// Long: nothing here waits for it. Slow machines must not end sessions, nor waits for deletes.
    static client_options patient() { return {.session_timeout = 10s, .close_timeout = 60s}; }

    client connect() { return world_->connect(patient()); }

    [[nodiscard]] bool empties(const std::string& path) {
        return eventually([&] { return world_->children(path).empty(); });
    }

    std::unique_ptr<world> world_ = make_world(GetParam());
    std::string path_ = world_->fresh_path() + "/lock";
};

}  // namespace latchkey::test

/// Instantiates a suite for the world of the program that it is linked into.
#define LATCHKEY_IN_THIS_WORLD(suite)                                                 \
    INSTANTIATE_TEST_SUITE_P(                                                         \
        , suite, ::testing::Values(latchkey::test::this_world()), [](const auto& p) { \
            return name_of_world(p.param);                                            \
        })

#pragma once

#include <latchkey/mutex.hpp>

#include "call_failures.hpp"
#include "eventually.hpp"
#include "loop/blocking_result.hpp"
#include "world.hpp"

#include <cstddef>
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

    /// With an identity, "name:password".
    client connect_as(const std::string& who) {
        client_options identified = patient();
        identified.auth = {{.scheme = "digest", .secret = who}};
        return world_->connect(identified);
    }

    /// Below the path, or one that begins with it.
    [[nodiscard]] bool has_children(std::size_t count, const std::string& below = {}) {
        return eventually([&] { return world_->children(path_ + below).size() == count; });
    }

    [[nodiscard]] bool empties(const std::string& path) {
        return eventually([&] { return world_->children(path).empty(); });
    }

    /// The servers end the client's session, and it gets another one.
    [[nodiscard]] bool changes_session(const client& c) {
        const std::int64_t ended = c.session_id();
        world_->expire(ended);
        return eventually([&] { return c.session_id() != 0 && c.session_id() != ended; });
    }

    /// A hold or a term, soon.
    template <class Held>
    [[nodiscard]] static bool is_lost(const Held& h) {
        return eventually([&] { return !h.valid(); });
    }

    template <class Held>
    [[nodiscard]] static bool is_lost(const Held& h, loss_reason why) {
        return eventually([&] { return h.why_lost() == why; });
    }

    std::unique_ptr<world> world_ = make_world(this_world());
    std::string path_ = world_->fresh_path() + "/lock";
};

class TwoClientsTest : public RecipeTest {
protected:
    client a_ = connect();
    client b_ = connect();
};

/// The lock of one client, and that of another one on the same path.
template <class Lock>
class TwoLocksTest : public TwoClientsTest {
protected:
    Lock mine_{a_, path_};
    Lock other_{b_, path_};
};

}  // namespace latchkey::test

/// Instantiates a suite for the world of the program that it is linked into.
#define LATCHKEY_IN_THIS_WORLD(suite)                                                 \
    INSTANTIATE_TEST_SUITE_P(                                                         \
        , suite, ::testing::Values(latchkey::test::this_world()), [](const auto& p) { \
            return name_of_world(p.param);                                            \
        })

#pragma once

#include <latchkey/client.hpp>

#include "eventually.hpp"
#include "peer.hpp"
#include "queued.hpp"
#include "real_ensemble.hpp"
#include "world.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {

using namespace std::chrono_literals;

inline std::int64_t now() {
    return std::chrono::steady_clock::now().time_since_epoch().count();
}

/// Adds rounds of contention until everybody has had turns enough; a slow machine needs more.
template <class Enough, class Round>
void repeat_until(Enough enough, Round round) {
    for (int rounds = 0; rounds < 20 && !enough(); ++rounds) {
        round();
    }
    EXPECT_TRUE(enough()) << "too few turns to mean anything";
}

/// Programs in other languages, on real servers and a path of their own. Those that are asked for
/// are started.
class InteropTest : public ::testing::Test {
protected:
    client connect() { return world_->connect({.session_timeout = 10s}); }

    peer& java() { return started(java_, peer::curator); }

    peer& python() { return started(python_, peer::kazoo); }

    /// That many are in the queue, now or soon.
    [[nodiscard]] bool queue_has(std::size_t participants) {
        return eventually([&] { return world_->children(path_).size() == participants; });
    }

    std::unique_ptr<world> world_ = make_world(world_kind::real);
    std::string path_ = world_->fresh_path() + "/lock";

private:
    template <class Make>
    static peer& started(std::unique_ptr<peer>& p, Make make) {
        if (!p) {
            p.reset(new peer(make(real_ensemble::shared().connect_string())));
        }
        return *p;
    }

    std::unique_ptr<peer> java_;
    std::unique_ptr<peer> python_;
};

}  // namespace latchkey::test

#pragma once

#include <latchkey/acquire_options.hpp>
#include <latchkey/client.hpp>
#include <latchkey/hold.hpp>

#include "eventually.hpp"
#include "peer.hpp"
#include "real_ensemble.hpp"
#include "world.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {

using namespace std::chrono_literals;

inline std::int64_t now() {
    return std::chrono::steady_clock::now().time_since_epoch().count();
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

    /// An acquire on its way; its place in the queue is reserved when this returns. `start` gets
    /// the options and the handler.
    template <class Start>
    std::future<hold> queued(Start start) {
        auto granted = std::make_shared<std::promise<hold>>();
        const auto reserved = std::make_shared<std::atomic<bool>>(false);  // told for each path
        start(
            acquire_options{.stop = {}, .reserved = [reserved](const place&) { *reserved = true; }},
            [granted](std::error_code ec, hold h) {
                EXPECT_FALSE(ec) << ec.message();
                granted->set_value(std::move(h));
            });
        EXPECT_TRUE(eventually([&] { return reserved->load(); }));
        return granted->get_future();
    }

    static bool is_granted(std::future<hold>& f, std::chrono::milliseconds limit = 0ms) {
        return f.wait_for(limit) == std::future_status::ready;
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

#pragma once

#include <latchkey/client.hpp>

#include "eventually.hpp"
#include "in_time.hpp"
#include "peer.hpp"
#include "queued.hpp"
#include "real_ensemble.hpp"
#include "world.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

/// Somebody who wants a lock, of ours or of another library.
struct contender {
    std::function<void()> queue;
    std::function<bool()> is_granted;
    std::function<bool()> tries;  ///< for a short time
    std::function<void()> release;
};

/// `wanted` is what the recipe takes before a time limit: nothing, a mode, or a number of permits.
template <class Lock, class... Wanted>
contender ours(Lock& lock, Wanted... wanted) {
    const auto granted = std::make_shared<std::future<hold>>();
    return {[=, &lock] { *granted = queued(lock, wanted...); },
            [=] { return is_ready(*granted); },
            [=, &lock] {
                return lock.try_acquire(wanted...) || in_time(200ms, [&](auto limit) {
                           return lock.try_acquire_for(wanted..., limit);
                       });
            },
            [=] {
                hold h = granted->get();
                EXPECT_TRUE(h.valid());
                h.release();
            }};
}

inline contender theirs(const peer_lock& lock) {
    const auto granted = std::make_shared<peer_answer>();
    return {[=] { *granted = lock.acquire(); },
            [=] { return is_ready(*granted); },
            [=] { return lock.try_acquire(200ms); },
            [=] {
                answer_of(std::move(*granted));
                lock.release();
            }};
}

/// Programs in other languages, on real servers and a path of their own. Those that are asked for
/// are started.
class InteropTest : public ::testing::Test {
protected:
    client connect() { return world_->connect({.session_timeout = 10s}); }

    peer& java() { return started(java_, &peer::curator); }

    peer& python() { return started(python_, &peer::kazoo); }

    /// Locks of theirs on the test's path.
    peer_lock curators(const std::string& kind, int limit = 1, const std::string& name = {}) {
        return java().open(kind, path_, limit, name);
    }

    peer_lock kazoos(const std::string& kind) { return python().open(kind, path_); }

    /// That many are in the queue, now or soon.
    [[nodiscard]] bool queue_has(std::size_t participants, const std::string& below = "") {
        return eventually([&] { return world_->children(path_ + below).size() == participants; });
    }

    /// Who is in one of our locks: our server may be behind those that served the others.
    template <class Lock>
    [[nodiscard]] static std::vector<participant> participants_of(Lock& lock, const client& c) {
        catch_up(c);
        return lock.participants();
    }

    /// They queue in this order, and each is granted when those before it have released, and not
    /// earlier. Nor does one that has released get it again as long as another one holds.
    void expect_turns_in_this_order(const std::vector<contender>& all) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            all[i].queue();
            ASSERT_TRUE(queue_has(i + 1));
        }
        for (std::size_t i = 0; i < all.size(); ++i) {
            SCOPED_TRACE("number " + std::to_string(i) + " of those that queue holds");
            ASSERT_TRUE(eventually([&] { return all[i].is_granted(); }));
            EXPECT_FALSE(i > 0 && all[i - 1].tries());
            work_for(100ms);
            for (std::size_t behind = i + 1; behind < all.size(); ++behind) {
                EXPECT_FALSE(all[behind].is_granted()) << behind;
            }
            all[i].release();
        }
        EXPECT_TRUE(queue_has(0));
    }

    std::unique_ptr<world> world_ = make_world(world_kind::real);
    std::string path_ = world_->fresh_path() + "/lock";

private:
    template <class Command>
    static peer& started(std::unique_ptr<peer>& p, Command command) {
        if (!p) {
            p = std::make_unique<peer>(command(real_ensemble::shared().connect_string()));
        }
        return *p;
    }

    std::unique_ptr<peer> java_;
    std::unique_ptr<peer> python_;
};

}  // namespace latchkey::test

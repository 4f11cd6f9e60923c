#include <latchkey/ensemble.hpp>
#include <latchkey/error.hpp>
#include <latchkey/fencing_token.hpp>
#include <latchkey/recursive_mutex.hpp>

#include "eventually.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using testing::ensemble;

/// A recursive_mutex has no asynchronous form, so the simulation cannot drive it. What it asks of
/// the servers a mutex asks; what it counts is shown here, with threads, while all else goes wrong.
class RecursiveFaults : public ::testing::Test {
protected:
    /// Locks `depth` times more, as long as it is granted. A re-entry needs what is still held.
    static void enter(recursive_mutex& m, std::size_t depth) {
        while (m.depth() < depth) {
            const std::size_t before = m.depth();
            const bool was_lost = !m.held().valid();
            const bool entered = before % 2 == 0 ? m.try_lock() : reentered(m);
            EXPECT_EQ(m.depth(), before + (entered ? 1U : 0U));
            EXPECT_FALSE(entered && was_lost) << "entered on a hold that was lost";
            if (!entered) {
                EXPECT_FALSE(m.held().valid()) << "refused what it has";
                return;
            }
        }
    }

    static bool reentered(recursive_mutex& m) {
        try {
            m.lock();
            return true;
        } catch (const error& e) {
            EXPECT_EQ(e.code(), errc::hold_lost);
            return false;
        }
    }

    /// Whoever is granted has the newest token, or has lost it again.
    void note(const hold& h) {
        const std::lock_guard lock(guard_);
        EXPECT_TRUE(h.token() > newest_ || !h.valid());
        newest_ = std::max(newest_, h.token());
    }

    /// One thread's turn: each unlock takes back one lock, and only the last one releases.
    void turn(recursive_mutex& m, client& c, int round) {
        m.lock();
        EXPECT_EQ(m.depth(), 1U);
        note(m.held());
        enter(m, 3);
        if (round % 4 == 3) {
            if (const auto session = c.session_id(); session != 0) {
                ensemble_.expire(session);
            }
            EXPECT_TRUE(eventually([&] { return !m.held().valid(); }));
            const std::size_t before = m.depth();
            EXPECT_FALSE(m.try_lock());
            EXPECT_FALSE(reentered(m));
            EXPECT_EQ(m.depth(), before);
        }
        while (m.depth() > 0) {
            m.unlock();
        }
        EXPECT_THROW(m.unlock(), error);
    }

    ensemble ensemble_{{.tick = 100ms}};
    std::mutex guard_;
    fencing_token newest_;
};

TEST_F(RecursiveFaults, CountsWhatItHasAndEntersNothingThatWasLost) {
    ensemble_.inject({.cut_before = 0.02,
                      .cut_after = 0.02,
                      .interval = 50ms,
                      .cut = 0.4,
                      .suspend = 0.2,
                      .expire = 0.1,
                      .lasting = 200ms});
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 3; ++i) {
            threads.emplace_back([this] {
                client c = ensemble_.connect({.session_timeout = 1s});
                recursive_mutex m(c, "/lock");
                for (int round = 0; round < 12; ++round) {
                    turn(m, c, round);
                }
            });
        }
    }
    ensemble_.inject({});
    EXPECT_TRUE(eventually([&] { return ensemble_.children("/lock").empty(); }));
}

}  // namespace
}  // namespace latchkey::test

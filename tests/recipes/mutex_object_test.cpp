#include "recipe_test.hpp"

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

class MutexObject : public RecipeTest {};

TEST_P(MutexObject, ThreadsOfOneObjectAreOneParticipant) {
    client c = connect();
    mutex m(c, path_);
    hold h = m.acquire();
    std::vector<std::thread> threads;
    std::atomic<int> inside{0};
    std::atomic<int> done{0};
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&] {
            const hold mine = m.acquire();
            EXPECT_EQ(++inside, 1);
            --inside;
            ++done;
        });
    }
    EXPECT_EQ(world_->children(path_).size(), 1U);
    EXPECT_EQ(done, 0);
    h.release();
    for (auto& t : threads) {
        t.join();
    }
    EXPECT_EQ(done, 8);
}

TEST_P(MutexObject, AsynchronousFormEndsOnceOnTheCallbackThread) {
    client c = connect();
    mutex m(c, path_);
    awaited<std::pair<std::error_code, std::thread::id>> first;
    hold kept;
    m.async_acquire({}, [&](std::error_code ec, hold h) {
        kept = std::move(h);
        first.set({ec, std::this_thread::get_id()});
    });
    const auto [ec, thread] = first.get();
    EXPECT_FALSE(ec);
    EXPECT_NE(thread, std::this_thread::get_id());
    EXPECT_TRUE(kept.valid());
    mutex other(c, path_);
    awaited<bool> second;
    other.async_acquire(100ms, {}, [&](std::error_code e, hold h) { second.set(!e && !h); });
    EXPECT_TRUE(second.get());
}

TEST_P(MutexObject, HoldOutlivesTheMutex) {
    client c = connect();
    hold h;
    {
        mutex m(c, path_);
        h = m.acquire();
    }
    EXPECT_TRUE(h.valid());
    EXPECT_EQ(world_->children(path_).size(), 1U);
    h.release();
    EXPECT_TRUE(empties(path_));
}

LATCHKEY_IN_THIS_WORLD(MutexObject);

}  // namespace
}  // namespace latchkey::test

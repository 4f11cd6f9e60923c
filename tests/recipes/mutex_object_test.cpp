#include "recipe_test.hpp"

#include <algorithm>
#include <atomic>
#include <regex>
#include <stop_token>
#include <thread>
#include <vector>

#define BOOST_THREAD_PROVIDES_FUTURE
#include <boost/thread/thread.hpp>

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

TEST_P(MutexObject, LockTwiceByOneThreadIsReported) {
    client c = connect();
    mutex m(c, path_);
    m.lock();
    try {
        m.lock();
        ADD_FAILURE() << "locked twice";
    } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::would_deadlock);
        EXPECT_NE(std::string(e.what()).find(path_), std::string::npos);
    }
    EXPECT_FALSE(m.try_lock());
    EXPECT_FALSE(m.try_lock_for(1h));
    m.unlock();
    EXPECT_TRUE(m.try_lock());
    m.unlock();
}

TEST_P(MutexObject, HeldIsTheHoldOfTheGuard) {
    client c = connect();
    mutex m(c, path_);
    EXPECT_THROW(static_cast<void>(m.held()), error);
    {
        const std::unique_lock lock(m);
        EXPECT_TRUE(m.held().valid());
        EXPECT_TRUE(m.held().path().starts_with(path_));
    }
    EXPECT_THROW(static_cast<void>(m.held()), error);
}

TEST_P(MutexObject, ScopedLockTakesSeveral) {
    client a = connect();
    client b = connect();
    mutex a1(a, path_ + "1");
    mutex a2(a, path_ + "2");
    mutex b1(b, path_ + "1");
    mutex b2(b, path_ + "2");
    std::atomic<int> inside{0};
    const auto work = [&inside](mutex& x, mutex& y) {
        for (int i = 0; i < 5; ++i) {
            const std::scoped_lock lock(x, y);
            EXPECT_EQ(++inside, 1);
            --inside;
        }
    };
    std::thread other([&] { work(b2, b1); });
    work(a1, a2);
    other.join();
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

TEST_P(MutexObject, BlockingCallInACallbackIsRefused) {
    client c = connect();
    mutex m(c, path_);
    awaited<std::error_code> refused;
    m.async_acquire({}, [&](std::error_code, const hold&) {
        std::error_code ec;
        const hold never = m.acquire({}, ec);
        refused.set(ec);
    });
    EXPECT_EQ(refused.get(), errc::would_deadlock);
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

TEST_P(MutexObject, DestroyedWhileLockedItUnlocks) {
    client c = connect();
    {
        mutex m(c, path_);
        m.lock();
    }
    EXPECT_TRUE(empties(path_));
}

LATCHKEY_IN_THIS_WORLD(MutexObject);

}  // namespace
}  // namespace latchkey::test

// Threads that share a lock with local_passes or retain_for, and another client beside them.
#include <latchkey/recursive_mutex.hpp>
#include <latchkey/shared_mutex.hpp>

#include "recipe_test.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace latchkey::test {
namespace {

class LocalTurnsOfThreads : public TwoClientsTest {
protected:
    /// What a lock is for: nothing but the lock protects it.
    struct {
        std::int64_t count = 0;
        fencing_token newest;
    } protected_;

    void work(mutex& m, int turns) {
        for (int i = 0; i < turns; ++i) {
            const hold h = m.acquire();
            ASSERT_TRUE(h.valid());
            ASSERT_GT(h.token(), protected_.newest);
            protected_.newest = h.token();
            ++protected_.count;
        }
    }

    void in_threads(mutex& m, int threads, int turns) {
        std::vector<std::jthread> all;
        for (int i = 0; i < threads; ++i) {
            all.emplace_back([&, turns] { work(m, turns); });
        }
    }
};

TEST_P(LocalTurnsOfThreads, ExcludeThoseOfAnotherClient) {
    mutex m(a_, path_, {.local_passes = 8, .retain_for = 30s});
    mutex other(b_, path_, {.local_passes = 8});
    {
        const std::jthread beside([&] { in_threads(other, 2, 100); });
        in_threads(m, 2, 100);
    }
    EXPECT_EQ(protected_.count, 400);
}

TEST_P(LocalTurnsOfThreads, ExcludeEachOtherByAllFormsOfAcquire) {
    mutex m(a_, path_, {.local_passes = UINT32_MAX, .retain_for = 30s});
    int granted = 0;
    std::thread beside([&] { in_threads(m, 3, 3000); });
    for (int i = 0; i < 100; ++i) {
        const auto done = std::make_shared<blocking_result<bool>>();
        m.async_acquire({}, [&, done](std::error_code ec, hold h) {
            if (!ec && h.token() > protected_.newest) {
                protected_.newest = h.token();
                ++granted;
            }
            h.release();
            done->set(true);
        });
        done->get();
        const std::lock_guard<mutex> lock(m);
        protected_.newest = m.held().token();
    }
    beside.join();
    EXPECT_EQ(granted, 100);
    EXPECT_EQ(protected_.count, 3 * 3000);
}

TEST_P(LocalTurnsOfThreads, ReadTogetherAndWriteAlone) {
    shared_mutex mine(a_, path_, {.local_passes = 4, .retain_for = 30s});
    shared_mutex theirs(b_, path_, {.local_passes = 4, .retain_for = 30s});
    std::atomic<int> readers{0};
    std::atomic<bool> wrong{false};
    const auto use = [&](shared_mutex& m) {
        for (int i = 0; i < 40; ++i) {
            if (i % 4 == 0) {
                const hold h = m.acquire(lock_mode::exclusive);
                wrong = wrong || readers != 0 || !h.valid();
                protected_.count = protected_.count + 1;
                wrong = wrong || readers != 0;
            } else {
                const hold h = m.acquire(lock_mode::shared);
                ++readers;
                const auto seen = protected_.count;
                std::this_thread::yield();
                wrong = wrong || seen != protected_.count || !h.valid();
                --readers;
            }
        }
    };
    {
        std::vector<std::jthread> all;
        for (int i = 0; i < 3; ++i) {
            all.emplace_back([&] { use(mine); });
            all.emplace_back([&] { use(theirs); });
        }
    }
    EXPECT_FALSE(wrong);
    EXPECT_EQ(protected_.count, 60);
}

LATCHKEY_IN_THIS_WORLD(LocalTurnsOfThreads);

}  // namespace
}  // namespace latchkey::test

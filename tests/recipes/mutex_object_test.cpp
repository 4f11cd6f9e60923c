#include "blocking_thread.hpp"
#include "client/client_core.hpp"
#include "recipe_test.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

class MutexObject : public RecipeTest {
protected:
    /// Where a function runs that is given to `run`.
    template <class Run>
    static std::thread::id thread_of(Run run) {
        blocking_result<std::thread::id> here;
        run([&] { here.set(std::this_thread::get_id()); });
        return here.get();
    }

    client c_ = connect();
    mutex m_{c_, path_};
};

/// Threads in one blocking call each; what they are granted is handed to the test.
class crowd {
public:
    template <class Acquire>
    crowd(std::size_t threads, Acquire acquire) {
        for (std::size_t i = 0; i < threads; ++i) {
            threads_.emplace_back([this, acquire] {
                hold mine = acquire();
                const long sleeps = blocking_thread::own_sleeps();
                const std::lock_guard<std::mutex> lock(mutex_);
                sleeps_when_granted_.push_back(sleeps);
                holds_.push_back(std::move(mine));
                ++granted_;
            });
        }
    }

    crowd(const crowd&) = delete;
    crowd& operator=(const crowd&) = delete;

    ~crowd() {
        while (granted_ < threads_.size()) {
            static_cast<void>(next());
        }
    }

    /// Waits until each of them sleeps in its call, for good.
    [[nodiscard]] bool all_block() const {
        std::vector<long> last;
        return eventually([&] {
            const bool stay = std::exchange(last, sleeps()) == sleeps();
            return stay && std::all_of(threads_.begin(), threads_.end(), [](const auto& t) {
                       return t.blocks();
                   });
        });
    }

    [[nodiscard]] std::size_t granted() const { return granted_; }

    /// Waits for the next hold.
    [[nodiscard]] hold next() {
        hold taken;
        EXPECT_TRUE(eventually([&] {
            const std::lock_guard<std::mutex> lock(mutex_);
            if (holds_.empty()) {
                return false;
            }
            taken = std::move(holds_.front());
            holds_.pop_front();
            return true;
        }));
        return taken;
    }

    /// Of each thread: how often it has gone to sleep by now, or until it was granted.
    [[nodiscard]] std::vector<long> sleeps() const {
        std::vector<long> all;
        for (const blocking_thread& t : threads_) {
            all.push_back(t.sleeps());
        }
        return all;
    }

    [[nodiscard]] std::vector<long> sleeps_when_granted() const {
        const std::lock_guard<std::mutex> lock(mutex_);
        return sleeps_when_granted_;
    }

private:
    mutable std::mutex mutex_;
    std::vector<long> sleeps_when_granted_;
    std::deque<hold> holds_;
    std::atomic<std::size_t> granted_{0};
    std::deque<blocking_thread> threads_;  // end first
};

long sum(const std::vector<long>& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), 0L);
}

// A thread that is woken in vain goes to sleep once more.
TEST_P(MutexObject, ThreadsOfOneObjectAreOneParticipantAndEachTurnWakesOneOfThem) {
    hold h = m_.acquire();
    crowd waiting(8, [&] { return m_.acquire(); });
    ASSERT_TRUE(waiting.all_block());
    const long before = sum(waiting.sleeps());
    EXPECT_EQ(world_->children(path_).size(), 1U);
    EXPECT_EQ(waiting.granted(), 0U);
    h.release();
    for (std::size_t turn = 1; turn <= 8; ++turn) {
        const hold next = waiting.next();
        EXPECT_TRUE(next.valid());
        EXPECT_EQ(world_->children(path_).size(), 1U);
        EXPECT_EQ(waiting.granted(), turn);
    }
    EXPECT_LT(sum(waiting.sleeps_when_granted()) - before, 8 * 7 / 2)
        << "as often as if each turn woke all that wait";
}

TEST_P(MutexObject, AsynchronousFormEndsOnceOnTheCallbackThread) {
    std::vector<std::thread::id> calls;
    hold kept;
    blocking_result<bool> first;
    m_.async_acquire({}, [&](std::error_code ec, hold h) {
        EXPECT_FALSE(ec);
        EXPECT_TRUE(h.valid());
        kept = std::move(h);
        calls.push_back(std::this_thread::get_id());
        first.set(true);
    });
    EXPECT_TRUE(first.get());
    blocking_result<std::thread::id> second;
    mutex other(c_, path_);
    other.async_acquire(100ms, {}, [&](std::error_code ec, const hold& h) {
        EXPECT_TRUE((!ec || ec == errc::unreachable) && !h);
        second.set(std::this_thread::get_id());
    });
    const std::thread::id thread = second.get();
    EXPECT_NE(thread, std::this_thread::get_id());
    client_core& core = *client_core::of(c_);
    EXPECT_NE(thread, thread_of([&](auto f) { core.post(f); }));
    EXPECT_EQ(thread, thread_of([&](auto f) { core.call(f); }));
    c_.close();  // after this nothing is called
    EXPECT_EQ(calls, std::vector<std::thread::id>{thread});
}

TEST_P(MutexObject, HoldOutlivesTheMutex) {
    hold h;
    {
        mutex m(c_, path_);
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

#include "in_time.hpp"
#include "interruption.hpp"
#include "lockable_fixture.hpp"

#include <atomic>
#include <mutex>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>

namespace latchkey::test {
namespace {

/// How locks, and waits for them, end otherwise than by unlock(); of everything that can be locked.
template <class Where>
class EndOfEveryLockable : public LockableTest<Where> {};

TYPED_TEST_SUITE(EndOfEveryLockable, every_lockable, name_of_kind);

TYPED_TEST(EndOfEveryLockable, ByLossMakesUnlockANoOpAndItCanBeLockedAgain) {
    {
        const std::unique_lock mine(this->mine_);
        this->world_->expire(this->a_.session_id());
        EXPECT_TRUE(this->is_lost(this->mine_.held()));
        this->other_.lock();
    }
    EXPECT_TRUE(this->other_.held().valid());
    EXPECT_FALSE(this->mine_.try_lock());
    this->other_.unlock();
    const std::unique_lock again(this->mine_);
    EXPECT_TRUE(this->mine_.held().valid());
    EXPECT_FALSE(this->other_.try_lock());
}

TYPED_TEST(EndOfEveryLockable, ByDestructionUnlocks) {
    {
        typename TestFixture::lock_type brief(this->a_, this->path_);
        brief.lock();
        EXPECT_FALSE(this->other_.try_lock());
    }
    EXPECT_TRUE(this->leaves_nothing());
}

TYPED_TEST(EndOfEveryLockable, ByInterruptionOfAWaiterLeavesNothing) {
    this->other_.lock();
    const auto there = this->znodes();
    for (const bool timed : {false, true}) {
        interruptible_call waiter(
            [&] { timed ? static_cast<void>(this->mine_.try_lock_for(1h)) : this->mine_.lock(); });
        EXPECT_TRUE(this->grows_from(there.size()));
        waiter.interrupt();
        EXPECT_TRUE(waiter.ends_interrupted());
        EXPECT_EQ(this->znodes(), there);
    }
    this->other_.unlock();
    EXPECT_TRUE(this->mine_.try_lock_for(30s)) << "nobody else has it";
    this->mine_.unlock();
}

TYPED_TEST(EndOfEveryLockable, ByCloseIsToldToWhoeverLocksAfterwards) {
    this->mine_.lock();
    this->a_.close();
    EXPECT_FALSE(this->mine_.held().valid());
    EXPECT_EQ(this->mine_.held().why_lost(), loss_reason::client_closed);
    this->mine_.unlock();
    EXPECT_EQ(code_of([this] { this->mine_.lock(); }), errc::closed);
    EXPECT_EQ(code_of([this] { EXPECT_FALSE(this->mine_.try_lock()); }), errc::closed);
    EXPECT_EQ(code_of([this] { EXPECT_FALSE(this->mine_.try_lock_for(1h)); }), errc::closed);
    EXPECT_TRUE(this->other_.try_lock_for(30s));
    this->other_.unlock();
    EXPECT_TRUE(this->leaves_nothing());
}

TYPED_TEST(EndOfEveryLockable, ByCloseIsToldToWhoeverWaits) {
    this->other_.lock();
    const std::size_t there = this->znodes().size();
    std::atomic<bool> told{false};
    std::thread waiter([&] {
        EXPECT_EQ(code_of([this] { this->mine_.lock(); }), errc::closed);
        told = true;
    });
    EXPECT_TRUE(this->grows_from(there));
    EXPECT_FALSE(told);
    this->a_.close();
    waiter.join();
    EXPECT_TRUE(this->other_.held().valid());
}

TYPED_TEST(EndOfEveryLockable, WouldNeverComeOnTheCallbackThread) {
    mutex elsewhere(this->a_, this->path_ + "-elsewhere");
    blocking_result<std::error_code> refused;
    elsewhere.async_acquire({}, [&](std::error_code, const hold&) {
        refused.set(code_of([this] { this->mine_.lock(); }));
    });
    EXPECT_EQ(refused.get(), errc::would_deadlock);
    EXPECT_TRUE(this->leaves_nothing());
}

TYPED_TEST(EndOfEveryLockable, MayNotComeToAThreadThatHasItAlready) {
    auto& m = this->mine_;
    constexpr relock again = kind<typename TestFixture::lock_type>::again;
    m.lock();
    const std::size_t there = this->znodes().size();
    if constexpr (again == relock::error) {
        EXPECT_EQ(code_of([&] { m.lock(); }), errc::would_deadlock);
        EXPECT_FALSE(m.try_lock_for(1h)) << "at once";
    }
    if constexpr (again == relock::error || again == relock::waits) {
        EXPECT_FALSE(m.try_lock());
        EXPECT_FALSE(in_time(10ms, [&](auto limit) { return m.try_lock_for(limit); }));
    } else {
        m.lock();
        EXPECT_TRUE(m.try_lock());
        m.unlock();
        m.unlock();
    }
    EXPECT_TRUE(m.held().valid());
    EXPECT_FALSE(this->other_.try_lock());
    EXPECT_TRUE(eventually([&] { return this->znodes().size() == there; }));
    m.unlock();
    EXPECT_TRUE(m.try_lock_for(30s));
    m.unlock();
    EXPECT_TRUE(this->leaves_nothing());
}

/// Those that say more than a Lockable can: with a stop token, and a hold.
template <class Where>
class EndOfEveryAcquire : public LockableTest<Where> {
protected:
    [[nodiscard]] hold acquire(std::stop_token stop) {
        if constexpr (std::is_same_v<Where, shared_mutex>) {
            return this->mine_.acquire(lock_mode::exclusive, {.stop = std::move(stop)});
        } else {
            return this->mine_.acquire({.stop = std::move(stop)});
        }
    }
};

using acquirables = ::testing::Types<mutex,
                                     pair_of_mutexes,
                                     shared_mutex,
                                     reader,
                                     upgrader,
                                     only_permit<semaphore>,
                                     only_permit<curator_semaphore>>;
TYPED_TEST_SUITE(EndOfEveryAcquire, acquirables, name_of_kind);

TYPED_TEST(EndOfEveryAcquire, ByAStopTokenIsAnEmptyHoldAndLeavesNothing) {
    this->other_.lock();
    const auto there = this->znodes();
    {
        std::jthread waiter([this](std::stop_token stop) { EXPECT_FALSE(this->acquire(stop)); });
        EXPECT_TRUE(this->grows_from(there.size()));
    }
    EXPECT_EQ(this->znodes(), there);
    std::stop_source before;
    before.request_stop();
    EXPECT_FALSE(this->acquire(before.get_token()));
    EXPECT_TRUE(eventually([&] { return this->znodes() == there; }));
    this->other_.unlock();
    EXPECT_TRUE(this->acquire(std::stop_source().get_token()));
}

}  // namespace
}  // namespace latchkey::test

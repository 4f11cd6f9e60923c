#include "in_time.hpp"
#include "lockable_fixture.hpp"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/chrono/chrono.hpp>
#include <boost/thread/condition_variable.hpp>
#include <boost/thread/lock_algorithms.hpp>
#include <boost/thread/lock_guard.hpp>
#include <boost/thread/lock_types.hpp>

namespace latchkey::test {
namespace {

/// What a Lockable has to do, of everything that can be locked.
template <class Where>
class EveryLockable : public LockableTest<Where> {};

TYPED_TEST_SUITE(EveryLockable, every_lockable, name_of_kind);

TYPED_TEST(EveryLockable, ExcludesItsRivalUntilItIsUnlocked) {
    using traits = kind<typename TestFixture::lock_type>;
    const auto held = [this] { return this->mine_.held().valid(); };
    EXPECT_TRUE(!traits::tells_when_not_held || code_of(held) == errc::hold_lost);
    this->mine_.lock();
    EXPECT_TRUE(held());
    EXPECT_FALSE(this->other_.try_lock());
    this->mine_.unlock();
    EXPECT_TRUE(!traits::tells_when_not_held || code_of(held) == errc::hold_lost);
    EXPECT_TRUE(this->other_.try_lock_for(30s));
    EXPECT_FALSE(this->mine_.try_lock());
    this->other_.unlock();
    EXPECT_TRUE(this->leaves_nothing());
    // Another server may show the old state for a moment.
    ASSERT_TRUE(eventually([this] { return this->mine_.try_lock(); }));
    EXPECT_TRUE(held());
    this->mine_.unlock();
}

TYPED_TEST(EveryLockable, TriesThatFailLeaveNothingAndKeepTheirLimits) {
    this->other_.lock();
    const auto there = this->znodes();
    auto& m = this->mine_;
    for (int i = 0; i < 3; ++i) {
        EXPECT_FALSE(m.try_lock());
        EXPECT_EQ(this->znodes(), there);
    }
    EXPECT_FALSE(m.try_lock_for(0s));
    EXPECT_FALSE(m.try_lock_for(-1h));
    EXPECT_FALSE(m.try_lock_until(std::chrono::system_clock::time_point::min()));
    constexpr auto shortest = 20ms;
    for (const auto& wait : std::vector<std::function<bool(std::chrono::milliseconds)>>{
             [&](auto limit) { return m.try_lock_for(limit); },
             [&](auto limit) { return m.try_lock_for(boost::chrono::milliseconds(limit.count())); },
             [&](auto limit) { return m.try_lock_until(std::chrono::steady_clock::now() + limit); },
             [&](auto limit) {
                 return m.try_lock_until(boost::chrono::steady_clock::now() +
                                         boost::chrono::milliseconds(limit.count()));
             }}) {
        const auto begin = std::chrono::steady_clock::now();
        EXPECT_FALSE(in_time(shortest, wait));
        const auto took = std::chrono::steady_clock::now() - begin;
        EXPECT_GE(took, shortest);
        EXPECT_LT(took, 10min);
        EXPECT_TRUE(eventually([&] { return this->znodes() == there; }));
    }
    this->other_.unlock();
    EXPECT_TRUE(m.try_lock_for(std::chrono::hours::max()));
    m.unlock();
    EXPECT_TRUE(this->leaves_nothing());
}

TYPED_TEST(EveryLockable, ServesTheGuardsOfStd) {
    using guard = std::unique_lock<typename TestFixture::lock_type>;
    {
        const std::lock_guard g(this->mine_);
        EXPECT_FALSE(this->other_.try_lock());
    }
    {
        guard g(this->mine_, std::defer_lock);
        EXPECT_FALSE(g.owns_lock());
        ASSERT_TRUE(g.try_lock_for(30s));
        const guard moved = std::move(g);
        EXPECT_FALSE(this->other_.try_lock());
    }
    EXPECT_TRUE(guard(this->mine_, std::chrono::system_clock::now() + 1h).owns_lock());
    const std::unique_lock theirs(this->other_);
    EXPECT_FALSE(guard(this->mine_, std::try_to_lock).owns_lock());
    EXPECT_FALSE(in_time(10ms, [&](auto limit) { return guard(this->mine_, limit).owns_lock(); }));
}

TYPED_TEST(EveryLockable, ServesTheGuardsOfBoost) {
    using guard = boost::unique_lock<typename TestFixture::lock_type>;
    {
        const boost::lock_guard<typename TestFixture::lock_type> g(this->mine_);
        EXPECT_FALSE(this->other_.try_lock());
    }
    {
        guard g(this->mine_, boost::defer_lock);
        EXPECT_FALSE(g.owns_lock());
        ASSERT_TRUE(g.try_lock_for(boost::chrono::seconds(30)));
        const guard moved = boost::move(g);
        EXPECT_FALSE(this->other_.try_lock());
    }
    const auto later = boost::chrono::system_clock::now() + boost::chrono::hours(1);
    EXPECT_TRUE(guard(this->mine_, later).owns_lock());
    const boost::unique_lock<typename TestFixture::rival_type> theirs(this->other_);
    EXPECT_FALSE(guard(this->mine_, boost::try_to_lock).owns_lock());
    EXPECT_FALSE(in_time(10ms, [&](auto limit) {
        return guard(this->mine_, boost::chrono::milliseconds(limit.count())).owns_lock();
    }));
}

TYPED_TEST(EveryLockable, TwoTakenInBothOrdersDoNotDeadlock) {
    typename TestFixture::lock_type my_second(this->a_, this->path_ + "-2");
    typename TestFixture::rival_type their_second(this->b_, this->path_ + "-2");
    std::atomic<int> inside{0};
    const auto rounds = [&inside](auto& x, auto& y) {
        const auto alone = [&inside] {
            EXPECT_EQ(++inside, 1);
            --inside;
        };
        for (int i = 0; i < 2; ++i) {
            {
                const std::scoped_lock both(x, y);
                alone();
            }
            std::unique_lock first(x, std::defer_lock);
            std::unique_lock second(y, std::defer_lock);
            std::lock(first, second);
            alone();
            first.unlock();
            second.unlock();
            boost::lock(x, y);
            alone();
            x.unlock();
            y.unlock();
        }
    };
    std::thread others([&] { rounds(their_second, this->other_); });
    rounds(this->mine_, my_second);
    others.join();
    EXPECT_TRUE(this->leaves_nothing());
}

// Threads that share an object, and objects of several clients. What they count needs no other
// protection.
TYPED_TEST(EveryLockable, ExcludesThreadsOfSeveralClients) {
    constexpr int rounds = 4;
    constexpr bool alone = kind<typename TestFixture::lock_type>::alone;
    int counter = 0;
    std::atomic<int> expected{0};
    const auto work = [&](auto& lock, bool counts) {
        for (int i = 0; i < rounds; ++i) {
            const std::scoped_lock inside(lock);
            const int before = counter;
            std::this_thread::yield();
            EXPECT_EQ(counter, before);
            if (counts) {
                counter = before + 1;
                ++expected;
            }
        }
    };
    client third = this->connect();
    typename TestFixture::lock_type mine_of_b(this->b_, this->path_);
    typename TestFixture::rival_type other_of_third(third, this->path_);
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 2; ++i) {
            threads.emplace_back([&] { work(this->mine_, alone); });
            threads.emplace_back([&] { work(mine_of_b, alone); });
            threads.emplace_back([&] { work(other_of_third, true); });
        }
        threads.emplace_back([&] { work(this->other_, true); });
    }
    EXPECT_EQ(counter, expected);
    EXPECT_TRUE(this->leaves_nothing());
}

TYPED_TEST(EveryLockable, IsGrantedInTheOrderOfArrivalAmongClients) {
    constexpr int count = 4;
    std::vector<client> clients;
    std::vector<int> order;
    boost::mutex guard;
    std::vector<std::jthread> threads;
    const auto work = [&]<class Lock>(std::type_identity<Lock>, int i) {
        Lock lock(clients[static_cast<std::size_t>(i)], this->path_);
        const std::scoped_lock inside(lock);
        const boost::lock_guard<boost::mutex> recording(guard);
        order.push_back(i);
    };
    for (int i = 0; i < count; ++i) {
        clients.push_back(this->connect());
    }
    this->other_.lock();
    for (int i = 0; i < count; ++i) {
        const std::size_t there = this->znodes().size();
        // Each of them is the rival of its neighbours.
        if (i % 2 == 0) {
            threads.emplace_back(work, std::type_identity<typename TestFixture::lock_type>(), i);
        } else {
            threads.emplace_back(work, std::type_identity<typename TestFixture::rival_type>(), i);
        }
        EXPECT_TRUE(this->grows_from(there));
    }
    this->other_.unlock();
    threads.clear();
    EXPECT_EQ(order, (std::vector{0, 1, 2, 3}));
}

/// One thread waits for what another one does with the lock meanwhile.
template <class Condition, class Guard, class Mine, class Other>
void meet(Mine& mine, Other& other) {
    Condition changed;
    bool done = false;
    std::atomic<bool> locked{false};
    std::thread waiter([&] {
        Guard g(mine);
        locked = true;
        changed.wait(g, [&] { return done; });
        EXPECT_TRUE(g.owns_lock());
        EXPECT_TRUE(mine.held().valid());
        EXPECT_FALSE(other.try_lock());
    });
    EXPECT_TRUE(eventually([&] { return locked.load(); }));
    {
        const std::scoped_lock meanwhile(other);
        done = true;
    }
    changed.notify_all();
    waiter.join();
}

TYPED_TEST(EveryLockable, WaitsWithConditionVariablesOfBothLibraries) {
    using std_guard = std::unique_lock<typename TestFixture::lock_type>;
    using boost_guard = boost::unique_lock<typename TestFixture::lock_type>;
    meet<std::condition_variable_any, std_guard>(this->mine_, this->other_);
    meet<boost::condition_variable_any, boost_guard>(this->mine_, this->other_);
    EXPECT_TRUE(this->leaves_nothing());
}

}  // namespace
}  // namespace latchkey::test

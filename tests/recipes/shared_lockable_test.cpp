#include <latchkey/shared_mutex.hpp>

#include "in_time.hpp"
#include "recipe_test.hpp"
#include "second_thread.hpp"

#include <mutex>
#include <shared_mutex>
#include <system_error>
#include <utility>

#define BOOST_THREAD_PROVIDES_SHARED_MUTEX_UPWARDS_CONVERSIONS
#include <boost/chrono/chrono.hpp>
#include <boost/thread/lock_types.hpp>
#include <boost/thread/shared_lock_guard.hpp>

namespace latchkey::test {
namespace {

using std_shared = std::shared_lock<shared_mutex>;
using boost_shared = boost::shared_lock<shared_mutex>;
using boost_upgrade = boost::upgrade_lock<shared_mutex>;
using boost_unique = boost::unique_lock<shared_mutex>;

/// SharedLockable and UpgradeLockable, as the guards of std and Boost use them; what every Lockable
/// does is EveryLockable's.
class SharedLockable : public TwoLocksTest<shared_mutex> {};

TEST_P(SharedLockable, GuardsOfReadersShareAndKeepWritersOut) {
    {
        const std_shared one(mine_);
        const boost_shared two(other_);
        const boost::shared_lock_guard<shared_mutex> three(mine_);
        EXPECT_TRUE(mine_.held_shared().valid() && other_.held_shared().valid());
        EXPECT_EQ(world_->children(path_).size(), 3U);
        EXPECT_FALSE(other_.try_lock());
        EXPECT_FALSE(in_time(10ms, [&](auto limit) {
            return boost_unique(other_, boost::chrono::milliseconds(limit.count())).owns_lock();
        }));
    }
    const std::unique_lock alone(mine_);
    EXPECT_EQ(mine_.held().mode(), lock_mode::exclusive);
    EXPECT_FALSE(std_shared(other_, std::try_to_lock).owns_lock());
    EXPECT_FALSE(in_time(10ms, [&](auto limit) { return std_shared(other_, limit).owns_lock(); }));
    EXPECT_FALSE(std_shared(other_, std::chrono::system_clock::now()).owns_lock());
    EXPECT_FALSE(in_time(10ms, [&](auto limit) {
        return boost_shared(other_, boost::chrono::milliseconds(limit.count())).owns_lock();
    }));
    EXPECT_FALSE(boost_shared(other_, boost::chrono::steady_clock::now()).owns_lock());
    EXPECT_TRUE(has_children(1));
}

TEST_P(SharedLockable, ThatUpgradesReadsBesideReadersAndAloneAmongThoseThatMay) {
    const std_shared reading(other_);
    boost_upgrade up(mine_);
    EXPECT_EQ(mine_.held().mode(), lock_mode::upgrade);
    EXPECT_FALSE(boost_upgrade(other_, boost::try_to_lock).owns_lock());
    EXPECT_FALSE(in_time(10ms, [&](auto limit) { return other_.try_lock_upgrade_for(limit); }));
    EXPECT_FALSE(other_.try_lock_upgrade_until(boost::chrono::steady_clock::now()));
    EXPECT_FALSE(boost_unique(std::move(up), boost::try_to_lock).owns_lock()) << "one reads";
    EXPECT_FALSE(
        in_time(10ms, [&](auto limit) { return mine_.try_unlock_upgrade_and_lock_for(limit); }));
    EXPECT_FALSE(mine_.try_unlock_upgrade_and_lock_until(std::chrono::steady_clock::now()));
    EXPECT_TRUE(up.owns_lock());
    EXPECT_TRUE(mine_.held().valid());
}

TEST_P(SharedLockable, UpgradeToUniqueWritesAndGoesBack) {
    {
        boost_upgrade up(mine_);
        {
            const boost::upgrade_to_unique_lock<shared_mutex> writing(up);
            EXPECT_EQ(mine_.held().mode(), lock_mode::exclusive);
            EXPECT_FALSE(other_.try_lock_shared());
        }
        EXPECT_EQ(mine_.held().mode(), lock_mode::upgrade);
    }
    EXPECT_TRUE(empties(path_));
}

TEST_P(SharedLockable, GuardsConvertIntoEachOther) {
    boost_upgrade up(mine_);
    boost_unique alone(std::move(up));
    EXPECT_EQ(mine_.held().mode(), lock_mode::exclusive);
    const auto token = mine_.held().token();
    boost_upgrade down(std::move(alone));
    EXPECT_EQ(mine_.held().mode(), lock_mode::upgrade);
    boost_shared sharing(std::move(down));
    EXPECT_EQ(mine_.held_shared().token(), token);
    EXPECT_THROW(static_cast<void>(mine_.held()), error);
    EXPECT_TRUE(std_shared(other_, 30s).owns_lock());
    ASSERT_TRUE(has_children(1));

    boost_upgrade again(std::move(sharing), boost::try_to_lock);
    ASSERT_TRUE(again.owns_lock());
    EXPECT_THROW(static_cast<void>(mine_.held_shared()), error);
    boost_unique writing(std::move(again), boost::try_to_lock);
    ASSERT_TRUE(writing.owns_lock());
    EXPECT_FALSE(other_.try_lock_shared());
    const boost_shared last(std::move(writing));
    // Another server may show the writer for a moment.
    ASSERT_TRUE(eventually([&] { return other_.try_lock_shared(); }));
    other_.unlock_shared();
}

TEST_P(SharedLockable, LockedAloneByThisThreadIsNotLockedAgainInAnyMode) {
    for (const bool upgrading : {false, true}) {
        upgrading ? mine_.lock_upgrade() : mine_.lock();
        using member = void (shared_mutex::*)();
        for (const member lock : {static_cast<member>(&shared_mutex::lock),
                                  &shared_mutex::lock_shared,
                                  &shared_mutex::lock_upgrade}) {
            EXPECT_TRUE(fails_with(errc::would_deadlock, [&] { (mine_.*lock)(); }, {path_}));
        }
        EXPECT_FALSE(mine_.try_lock_shared());
        EXPECT_TRUE(mine_.held().valid());
        mine_.unlock();
    }
    EXPECT_TRUE(empties(path_));
}

// A mistake of one thread must not cost another one its lock.
TEST_P(SharedLockable, ConversionByAThreadWithoutALockLeavesThatOfAnotherThread) {
    second_thread holder;
    holder.run([&] { mine_.lock(); });
    EXPECT_EQ(code_of([&] { return mine_.try_unlock_shared_and_lock(); }), errc::hold_lost);
    EXPECT_EQ(code_of([&] { return mine_.try_unlock_shared_and_lock_upgrade(); }), errc::hold_lost);
    EXPECT_TRUE(mine_.held().valid());
    EXPECT_FALSE(other_.try_lock());
    holder.run([&] { mine_.unlock(); });
    mine_.unlock_and_lock_shared();  // nothing
    EXPECT_THROW(static_cast<void>(mine_.held_shared()), error);
}

LATCHKEY_IN_THIS_WORLD(SharedLockable);

}  // namespace
}  // namespace latchkey::test

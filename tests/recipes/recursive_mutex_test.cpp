#include <latchkey/recursive_mutex.hpp>

#include "in_time.hpp"
#include "recipe_test.hpp"

#include <future>
#include <system_error>

namespace latchkey::test {
namespace {

/// What is special about it: threads that exclude each other are EveryLockable's.
class RecursiveMutex : public RecipeTest {
protected:
    template <class F>
    static auto elsewhere(F f) {
        return std::async(std::launch::async, std::move(f)).get();
    }

    client c_ = connect();
    recursive_mutex m_{c_, path_};
};

TEST_P(RecursiveMutex, IsReleasedWhenEachLockHasBeenUnlocked) {
    m_.lock();
    m_.lock();
    ASSERT_TRUE(m_.try_lock());
    ASSERT_TRUE(m_.try_lock_for(30s));
    EXPECT_EQ(m_.depth(), 4U);
    EXPECT_EQ(world_->children(path_).size(), 1U) << "one participant, however often";
    const auto token = m_.held().token();
    client other = connect();
    mutex same(other, path_);
    for (std::size_t left = 4; left > 0; --left) {
        EXPECT_EQ(m_.depth(), left);
        EXPECT_TRUE(m_.held().valid());
        EXPECT_FALSE(same.try_acquire()) << left;
        m_.unlock();
    }
    EXPECT_EQ(m_.depth(), 0U);
    const hold next = same.acquire();
    EXPECT_GT(next.token(), token);
}

TEST_P(RecursiveMutex, BelongsToTheThreadThatLockedIt) {
    m_.lock();
    EXPECT_FALSE(elsewhere([this] { return m_.try_lock(); }));
    EXPECT_FALSE(in_time(
        30ms, [this](auto limit) { return elsewhere([&] { return m_.try_lock_for(limit); }); }));
    EXPECT_EQ(elsewhere([this] { return m_.depth(); }), 0U);
    EXPECT_THROW(elsewhere([this] { return m_.held().valid(); }), error);
    m_.unlock();
    EXPECT_TRUE(elsewhere([this] {
        const bool locked = m_.try_lock_for(10min);
        m_.unlock();
        return locked;
    }));
}

TEST_P(RecursiveMutex, UnlockByAnotherThreadIsAnErrorAndChangesNothing) {
    const auto is_refused = [this] {
        return fails_with(
            make_error_code(std::errc::operation_not_permitted), [this] { m_.unlock(); }, {path_});
    };
    EXPECT_TRUE(is_refused()) << "nobody has locked it";
    m_.lock();
    m_.lock();
    EXPECT_TRUE(elsewhere(is_refused));
    EXPECT_EQ(m_.depth(), 2U);
    EXPECT_TRUE(m_.held().valid());
    m_.unlock();
    m_.unlock();
    EXPECT_TRUE(is_refused());
}

TEST_P(RecursiveMutex, ReEntryOnALostHoldFails) {
    m_.lock();
    m_.lock();
    world_->expire(c_.session_id());
    ASSERT_TRUE(is_lost(m_.held()));
    EXPECT_TRUE(fails_with(errc::hold_lost, [this] { m_.lock(); }, {path_}));
    EXPECT_FALSE(m_.try_lock());
    EXPECT_FALSE(m_.try_lock_for(1h));
    EXPECT_EQ(m_.depth(), 2U) << "refused locks do not count";
    m_.unlock();
    EXPECT_THROW(m_.lock(), error) << "still lost, and still held once";
    m_.unlock();
    m_.lock();
    EXPECT_TRUE(m_.held().valid());
    EXPECT_EQ(m_.depth(), 1U);
    m_.unlock();
    EXPECT_TRUE(empties(path_));
}

TEST_P(RecursiveMutex, ReEntryAfterTheZnodeWasDeletedFails) {
    m_.lock();
    world_->remove(m_.held().path());
    ASSERT_TRUE(is_lost(m_.held()));
    EXPECT_THROW(m_.lock(), error);
    EXPECT_FALSE(m_.try_lock());
    m_.unlock();
    {
        recursive_mutex again(c_, path_);
        again.lock();
        again.lock();
    }
    EXPECT_TRUE(m_.try_lock_for(10min)) << "its destruction has unlocked it twice";
    m_.unlock();
}

LATCHKEY_IN_THIS_WORLD(RecursiveMutex);

}  // namespace
}  // namespace latchkey::test

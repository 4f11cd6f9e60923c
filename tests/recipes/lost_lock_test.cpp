// A lock that was lost stays the lock of the thread that locked it: what this thread still does
// with it changes nothing for the thread that has the lock now.
#include <latchkey/multi_mutex.hpp>
#include <latchkey/recursive_mutex.hpp>
#include <latchkey/shared_mutex.hpp>

#include "recipe_test.hpp"
#include "second_thread.hpp"

#include <functional>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

/// One way to lock something.
struct way {
    const char* name;
    std::function<void()> lock;
    std::function<void()> unlock;
    std::function<hold&()> held;
};

/// What a thread may do with its lock; `unlock` ends it.
struct verb {
    const char* name;
    std::function<void()> act;
    std::function<void()> unlock = [] {};
    bool fails = false;  ///< with errc::hold_lost if the lock was lost
};

class LostLock : public RecipeTest {
protected:
    enum class loss { of_its_znode, of_its_session, by_max_hold };

    void lose(const hold& mine, loss how) {
        if (how == loss::of_its_session) {
            EXPECT_TRUE(changes_session(c_));
        } else if (how == loss::of_its_znode) {
            world_->remove(mine.path());
        }
        EXPECT_TRUE(is_lost(mine));
    }

    /// This thread locks as `first` says and loses that lock. The second one locks the same object.
    /// Then this one does what `late` says.
    void play(const way& first, const verb& late, const way& second, loss how, bool waits = false) {
        SCOPED_TRACE(std::string(first.name) + ", lost; the other thread locks " + second.name +
                     (waits ? ", and waited" : "") + "; then " + late.name);
        first.lock();
        const std::string mine = first.held().path();
        const hold& my_hold = first.held();
        if (waits) {
            other_.start(second.lock);
            EXPECT_TRUE(eventually([&] { return world_->children(path_).size() > 1; }));
            lose(my_hold, how);
            other_.wait();
            // It may have been granted in the last moment of the session that they share.
            other_.run([&] {
                if (!second.held().valid()) {
                    second.unlock();
                    second.lock();
                }
            });
        } else {
            lose(my_hold, how);
            other_.run(second.lock);
        }
        const std::string theirs = path_of_the_other(second);
        EXPECT_NE(theirs, mine);
        EXPECT_EQ(&first.held(), &my_hold);
        EXPECT_EQ(first.held().path(), mine) << "the hold of another thread";
        EXPECT_FALSE(first.held().valid());

        EXPECT_EQ(code_of(late.act), late.fails ? errc::hold_lost : std::error_code());
        expect_kept(second, theirs, how);
        late.unlock();
        expect_kept(second, theirs, how);
        other_.run(second.unlock);
        EXPECT_TRUE(empties(path_));
        EXPECT_NE(code_of([&] { static_cast<void>(first.held()); }), std::error_code());
    }

    std::string path_of_the_other(const way& second) {
        std::string path;
        other_.run([&] { path = second.held().path(); });
        return path;
    }

    void expect_kept(const way& second, const std::string& theirs, loss how) {
        const auto look = [&] {
            EXPECT_EQ(second.held().path(), theirs);
            const loss_reason why = second.held().why_lost();
            if (how != loss::by_max_hold || why != loss_reason::max_hold_passed) {
                EXPECT_EQ(why, loss_reason::none);
                EXPECT_TRUE(world_->get(theirs)) << "the lock of the other thread was released";
            }
        };
        other_.run([&] { EXPECT_EQ(code_of(look), std::error_code()); });
    }

    static way as(shared_mutex& m, lock_mode mode) {
        const auto held = [&m]() -> hold& { return m.held(); };
        switch (mode) {
            case lock_mode::exclusive:
                return {"exclusive", [&m] { m.lock(); }, [&m] { m.unlock(); }, held};
            case lock_mode::upgrade:
                return {"upgrade", [&m] { m.lock_upgrade(); }, [&m] { m.unlock_upgrade(); }, held};
            case lock_mode::shared:
                break;
        }
        return {"shared",
                [&m] { m.lock_shared(); },
                [&m] { m.unlock_shared(); },
                [&m]() -> hold& { return m.held_shared(); }};
    }

    /// Everything that can be done with a lock of this kind.
    static std::vector<verb> verbs_of(shared_mutex& m, lock_mode mode) {
        const auto unlock = as(m, mode).unlock;
        const auto unlock_upgrade = as(m, lock_mode::upgrade).unlock;
        const auto unlock_shared = as(m, lock_mode::shared).unlock;
        switch (mode) {
            case lock_mode::exclusive:
                return {{"unlock", unlock},
                        {"to upgrade", [&m] { m.unlock_and_lock_upgrade(); }, unlock_upgrade},
                        {"to shared", [&m] { m.unlock_and_lock_shared(); }, unlock_shared}};
            case lock_mode::upgrade:
                return {{"unlock", unlock},
                        {"to exclusive", [&m] { m.unlock_upgrade_and_lock(); }, unlock, true},
                        {"try to exclusive",
                         [&m] { EXPECT_FALSE(m.try_unlock_upgrade_and_lock()); },
                         unlock,
                         true},
                        {"to exclusive in time",
                         [&m] { EXPECT_FALSE(m.try_unlock_upgrade_and_lock_for(1h)); },
                         unlock,
                         true},
                        {"to shared", [&m] { m.unlock_upgrade_and_lock_shared(); }, unlock_shared}};
            case lock_mode::shared:
                break;
        }
        return {{"unlock", unlock},
                {"try to upgrade",
                 [&m] { EXPECT_FALSE(m.try_unlock_shared_and_lock_upgrade()); },
                 unlock,
                 true},
                {"try to exclusive",
                 [&m] { EXPECT_FALSE(m.try_unlock_shared_and_lock()); },
                 unlock,
                 true}};
    }

    template <class Mutex>
    static way as(Mutex& m) {
        return {
            "it", [&m] { m.lock(); }, [&m] { m.unlock(); }, [&m]() -> hold& { return m.held(); }};
    }

    /// A lock that is unlocked after its time was over.
    void play_max_hold(const way& mine, const way& theirs) {
        play(mine, {"unlock", mine.unlock}, theirs, loss::by_max_hold);
    }

    client c_ = connect();
    second_thread other_;
};

constexpr auto exclusive = lock_mode::exclusive;
constexpr auto upgrade = lock_mode::upgrade;
constexpr auto shared = lock_mode::shared;

TEST_P(LostLock, OfASharedMutexIsLeftAloneByEveryVerbOfItsThread) {
    shared_mutex m(c_, path_);
    for (const lock_mode mine : {exclusive, upgrade, shared}) {
        for (const verb& late : verbs_of(m, mine)) {
            for (const lock_mode theirs : {exclusive, upgrade, shared}) {
                play(as(m, mine), late, as(m, theirs), loss::of_its_znode);
            }
        }
    }
}

TEST_P(LostLock, ThatAnotherThreadWaitedForIsLeftAloneToo) {
    shared_mutex m(c_, path_);
    for (const lock_mode mine : {exclusive, upgrade, shared}) {
        const verb unlock = verbs_of(m, mine).front();
        const lock_mode theirs = mine == upgrade ? upgrade : exclusive;
        play(as(m, mine), unlock, as(m, theirs), loss::of_its_znode, true);
        play(as(m, mine), unlock, as(m, theirs), loss::of_its_session, true);
        play(as(m, mine), unlock, as(m, theirs), loss::of_its_session);
    }
}

/// The client frees the lock then, although its thread may hang: so the next thread of the object
/// locks it before the first one has unlocked it.
TEST_P(LostLock, ByMaxHoldIsLeftAloneOfEveryKind) {
    const lock_options brief{.max_hold = 700ms};
    {
        mutex m(c_, path_, brief);
        play_max_hold(as(m), as(m));
    }
    {
        multi_mutex m(c_, {path_, path_ + "-beside"}, brief);
        play_max_hold(as(m), as(m));
    }
    {
        recursive_mutex m(c_, path_, brief);
        const way once = as(m);
        way twice = once;
        twice.name = "twice";
        twice.lock = [&] {
            m.lock();
            m.lock();
        };
        play_max_hold(once, once);
        play(once, {"lock", once.lock, once.unlock, true}, once, loss::by_max_hold);
        play(twice, {"unlock twice", once.unlock, once.unlock}, once, loss::by_max_hold);
    }
    shared_mutex m(c_, path_, brief);
    for (const lock_mode mine : {exclusive, upgrade, shared}) {
        play_max_hold(as(m, mine), as(m, exclusive));
    }
}

/// A guard unlocks also when its hold was released early. That ends no lock of another thread.
TEST_P(LostLock, ThatWasReleasedThroughItsHoldIsUnlockedOnce) {
    const auto play_early = [&](const way& mine, const way& theirs, int early) {
        SCOPED_TRACE(mine.name);
        for (int i = 0; i < early; ++i) {
            mine.lock();
            mine.held().release();
        }
        mine.lock();
        mine.unlock();
        other_.run(theirs.lock);
        const std::string path = path_of_the_other(theirs);
        for (int i = 0; i < early; ++i) {
            mine.unlock();
        }
        expect_kept(theirs, path, loss::of_its_znode);
        other_.run(theirs.unlock);
        EXPECT_TRUE(empties(path_));
    };
    mutex one(c_, path_);
    multi_mutex many(c_, {path_, path_ + "-beside"});
    shared_mutex rw(c_, path_);
    for (const int early : {1, 2}) {
        play_early(as(one), as(one), early);
        play_early(as(many), as(many), early);
        for (const lock_mode mode : {exclusive, upgrade, shared}) {
            play_early(as(rw, mode), as(rw, mode), early);
        }
    }
}

/// A conversion in between changes nothing of that, whether it throws or not.
TEST_P(LostLock, ThatWasReleasedThroughItsHoldIsUnlockedOnceAlsoIfItWasConverted) {
    shared_mutex rw(c_, path_);

    struct conversion {
        lock_mode from;
        lock_mode to;  ///< what the guard unlocks then
        std::function<void()> convert;
    };

    for (const conversion& c :
         {conversion{upgrade, upgrade, [&] { rw.unlock_upgrade_and_lock(); }},
          conversion{
              upgrade, upgrade, [&] { static_cast<void>(rw.try_unlock_upgrade_and_lock()); }},
          conversion{shared, shared, [&] { static_cast<void>(rw.try_unlock_shared_and_lock()); }},
          conversion{
              shared, shared, [&] { static_cast<void>(rw.try_unlock_shared_and_lock_upgrade()); }},
          conversion{exclusive, shared, [&] { rw.unlock_and_lock_shared(); }},
          conversion{exclusive, upgrade, [&] { rw.unlock_and_lock_upgrade(); }},
          conversion{upgrade, shared, [&] { rw.unlock_upgrade_and_lock_shared(); }}}) {
        const way mine = as(rw, c.from);
        const way theirs = as(rw, c.to);
        SCOPED_TRACE(mine.name);
        mine.lock();
        mine.held().release();
        try {
            c.convert();
        } catch (const error& e) {
            EXPECT_EQ(e.code(), errc::hold_lost);
        }
        other_.run(theirs.lock);
        const std::string path = path_of_the_other(theirs);
        as(rw, c.to).unlock();
        expect_kept(theirs, path, loss::of_its_znode);
        other_.run(theirs.unlock);
        EXPECT_TRUE(empties(path_));
    }
}

/// The system gives the id of a thread that has ended to another one.
TEST_P(LostLock, OfAThreadThatHasEndedIsNotThatOfALaterOne) {
    mutex plain(c_, path_);
    recursive_mutex again(c_, path_ + "-again");
    for (int i = 0; i < 3; ++i) {
        std::unique_lock<mutex> moved;
        std::thread([&] {
            moved = std::unique_lock(plain);
            if (i == 0) {
                again.lock();
            }
        }).join();
        std::thread([&] {
            EXPECT_FALSE(plain.try_lock());
            EXPECT_EQ(code_of([&] { EXPECT_FALSE(plain.try_lock_for(1ms)); }), std::error_code());
            EXPECT_FALSE(again.try_lock()) << "it entered a lock that it never took";
            EXPECT_EQ(again.depth(), 0U);
        }).join();
        moved.unlock();
    }
}

TEST_P(LostLock, WhileItIsConvertedIsLeftAloneToo) {
    client elsewhere = connect();
    shared_mutex m(c_, path_);
    const hold reading = shared_mutex(elsewhere, path_).acquire(shared);
    m.lock_upgrade();
    const std::string mine = m.held().path();
    const way theirs = as(m, upgrade);
    second_thread remover;
    other_.start(theirs.lock);
    remover.start([&] {
        EXPECT_TRUE(eventually([&] { return world_->children(path_).size() == 3; }));
        world_->remove(mine);
    });
    EXPECT_EQ(code_of([&] { m.unlock_upgrade_and_lock(); }), errc::hold_lost);
    const std::string path = path_of_the_other(theirs);
    EXPECT_EQ(m.held().path(), mine);
    m.unlock_upgrade();
    expect_kept(theirs, path, loss::of_its_znode);
    other_.run(theirs.unlock);
    EXPECT_TRUE(has_children(1));
}

/// A guard may move to a thread that has locked nothing. That one cannot say which of two locks it
/// means, so it gets the one that protects nothing.
TEST_P(LostLock, IsWhatAThreadWithoutALockUnlocks) {
    shared_mutex m(c_, path_);
    for (const lock_mode mode : {exclusive, upgrade}) {
        const way one = as(m, mode);
        one.lock();
        lose(one.held(), loss::of_its_znode);
        other_.run(one.lock);
        const std::string theirs = path_of_the_other(one);
        second_thread third;
        third.run([&] { EXPECT_FALSE(one.held().valid()); });
        third.run(one.unlock);
        expect_kept(one, theirs, loss::of_its_znode);
        third.run(one.unlock);
        EXPECT_TRUE(empties(path_)) << "the only lock that is left";
    }
}

LATCHKEY_IN_THIS_WORLD(LostLock);

}  // namespace
}  // namespace latchkey::test

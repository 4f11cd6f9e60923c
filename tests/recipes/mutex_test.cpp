#include "in_time.hpp"
#include "recipe_test.hpp"

#include <atomic>
#include <stop_token>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

class Mutex : public RecipeTest {};

TEST_P(Mutex, IsGrantedWhenNobodyIsThere) {
    client c = connect();
    mutex m(c, path_);
    const auto before = boottime_clock::now();
    const hold h = m.acquire();
    EXPECT_TRUE(h);
    EXPECT_TRUE(h.valid());
    EXPECT_GT(h.token().zxid, 0);
    EXPECT_EQ(h.why_lost(), loss_reason::none);
    EXPECT_FALSE(h.lost().stop_requested());
    EXPECT_GT(h.valid_until(), before);
    EXPECT_LE(h.valid_until(), boottime_clock::now() + c.session_timeout());
}

TEST_P(Mutex, NamesItsZnodesAsCuratorDoes) {
    client c = connect();
    mutex m(c, path_);
    const hold h = m.acquire();
    const auto names = world_->children(path_);
    ASSERT_EQ(names.size(), 1U);
    EXPECT_THAT(
        names.front(),
        ::testing::MatchesRegex("_c_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-lock-[0-9]{10}"));
    EXPECT_EQ(h.path(), path_ + "/" + names.front());
}

TEST_P(Mutex, ReleaseDeletesTheZnode) {
    client c = connect();
    mutex m(c, path_);
    hold h = m.acquire();
    EXPECT_TRUE(h.release_and_wait());
    EXPECT_FALSE(h);
    EXPECT_TRUE(world_->children(path_).empty());
}

TEST_P(Mutex, SecondParticipantWaitsForTheFirst) {
    client a = connect();
    client b = connect();
    mutex first(a, path_);
    mutex second(b, path_);
    hold h = first.acquire();
    const auto token = h.token();
    std::atomic<bool> granted{false};
    std::thread waiter([&] {
        const hold g = second.acquire();
        granted = true;
        EXPECT_GT(g.token(), token);
    });
    EXPECT_TRUE(eventually([&] { return first.participants().size() == 2; }));
    EXPECT_FALSE(granted);
    h.release();
    waiter.join();
    EXPECT_TRUE(granted);
    EXPECT_TRUE(empties(path_));
}

TEST_P(Mutex, ParticipantThatWasAloneForLongWaitsForTheNextOne) {
    client a = connect();
    client b = connect();
    mutex first(a, path_);
    mutex second(b, path_);
    for (int i = 0; i < 5; ++i) {
        first.acquire().release();
    }
    hold theirs = second.acquire();
    EXPECT_FALSE(in_time(100ms, [&](auto limit) { return first.try_acquire_for(limit); }));
    EXPECT_TRUE(theirs.valid());
    ASSERT_TRUE(theirs.release_and_wait());
    EXPECT_TRUE(first.acquire());
}

TEST_P(Mutex, ParticipantThatWasAloneForLongWaitsInADirectoryThatWasMadeAgain) {
    client a = connect();
    client b = connect();
    mutex first(a, path_);
    mutex second(b, path_);
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(first.acquire().release_and_wait());
    }
    world_->remove(path_);
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(second.acquire().release_and_wait());
    }
    const hold theirs = second.acquire();
    EXPECT_TRUE(theirs.path().ends_with("0000000002"));  // the first one's last number
    EXPECT_FALSE(in_time(100ms, [&](auto limit) { return first.try_acquire_for(limit); }));
    EXPECT_TRUE(theirs.valid());
}

TEST_P(Mutex, TellsThePlaceWhenItIsReserved) {
    client c = connect();
    mutex first(c, path_);
    mutex second(c, path_);
    const hold h = first.acquire();
    blocking_result<queue_position> told;
    std::stop_source stop;
    std::thread waiter([&] {
        EXPECT_FALSE(second.acquire(
            {.stop = stop.get_token(), .reserved = [&](const queue_position& p) { told.set(p); }}));
    });
    const queue_position p = told.get();
    EXPECT_EQ(p.position, 1U);
    EXPECT_EQ(path_ + "/" + p.predecessor, h.path());
    EXPECT_TRUE(p.path.starts_with(path_));
    stop.request_stop();
    waiter.join();
}

TEST_P(Mutex, TimedAcquireEndsEmptyAndLeavesNoZnode) {
    client c = connect();
    mutex first(c, path_);
    mutex second(c, path_);
    const hold h = first.acquire();
    EXPECT_FALSE(in_time(50ms, [&](auto limit) { return second.try_acquire_for(limit); }));
    EXPECT_FALSE(in_time(50ms, [&](auto limit) {
        return second.try_acquire_until(std::chrono::steady_clock::now() + limit);
    }));
    EXPECT_EQ(world_->children(path_).size(), 1U);
}

TEST_P(Mutex, TryAcquireTakesAFreeLockAndNotAHeldOne) {
    client a = connect();
    client b = connect();
    mutex first(a, path_);
    mutex second(b, path_);
    hold h = first.try_acquire();
    EXPECT_TRUE(h);
    EXPECT_FALSE(second.try_acquire());
    EXPECT_FALSE(second.try_acquire_for(0s));
    EXPECT_TRUE(h.release_and_wait());
    // Another server may show the old state for a moment.
    EXPECT_TRUE(eventually([&] { return static_cast<bool>(second.try_acquire()); }));
}

TEST_P(Mutex, TokensIncreaseFromHolderToHolder) {
    client a = connect();
    client b = connect();
    mutex first(a, path_);
    mutex second(b, path_);
    fencing_token last;
    for (int i = 0; i < 5; ++i) {
        for (mutex* m : {&first, &second}) {
            const hold h = m->acquire();
            EXPECT_GT(h.token(), last);
            last = h.token();
        }
    }
}

TEST_P(Mutex, TokensIncreaseWhenTheDirectoryIsMadeAnew) {
    client c = connect();
    mutex m(c, path_);
    hold h = m.acquire();
    const auto before = h.token();
    ASSERT_TRUE(h.release_and_wait());
    world_->remove(path_);  // as the servers remove an empty container
    h = m.acquire();
    EXPECT_TRUE(h.path().ends_with("0000000000"));
    EXPECT_GT(h.token(), before);
}

TEST_P(Mutex, ParticipantsAreToldInOrderWithWhoTheyAre) {
    client c = connect();
    mutex first(c, path_);
    mutex second(c, path_);
    EXPECT_TRUE(first.participants().empty());
    EXPECT_EQ(first.holder(), std::nullopt);
    const hold h = first.acquire();
    std::jthread waiter(
        [&](std::stop_token stop) { EXPECT_FALSE(second.acquire({.stop = stop})); });
    ASSERT_TRUE(eventually([&] { return first.participants().size() == 2; }));
    const auto all = first.participants();
    EXPECT_LT(all[0].sequence, all[1].sequence);
    EXPECT_EQ(path_ + "/" + all[0].name, h.path());
    EXPECT_EQ(all[0].czxid, h.token().zxid);
    EXPECT_EQ(all[0].session_id, c.session_id());
    ASSERT_TRUE(all[0].identified);
    EXPECT_EQ(all[0].identified->pid, ::getpid());
    EXPECT_EQ(all[0].identified->mode, "exclusive");
    EXPECT_LE(all[0].data.size(), 512U);
    ASSERT_TRUE(first.holder());
    EXPECT_EQ(first.holder()->name, all[0].name);
}

TEST_P(Mutex, DataOfTheUserIsTheZnodesData) {
    client c = connect();
    mutex m(c, path_, {.data = "backup of disk 7", .access = {}});
    const hold h = m.acquire();
    EXPECT_EQ(world_->get(h.path()), "backup of disk 7");
    ASSERT_TRUE(m.holder());
    EXPECT_FALSE(m.holder()->identified);
    EXPECT_THROW(mutex(c, path_, {.data = std::string(513, 'x'), .access = {}}), error);
}

TEST_P(Mutex, ForeignChildrenTakeNoPart) {
    client c = connect();
    world_->create(path_ + "/notes");
    world_->create(path_ + "/lock-of-somebody");
    mutex m(c, path_);
    EXPECT_TRUE(m.try_acquire());
    EXPECT_TRUE(m.acquire());
}

TEST_P(Mutex, ParticipantOfAnotherLibraryIsWaitedFor) {
    client c = connect();
    const std::string other = path_ + "/_c_0123456789abcdef0123456789abcdef-lock-0000000000";
    world_->create(other);
    world_->create(path_ + "/another-child");  // so that our own number comes after it
    mutex m(c, path_);
    EXPECT_FALSE(m.try_acquire());
    EXPECT_FALSE(in_time(100ms, [&](auto limit) { return m.try_acquire_for(limit); }));
    world_->remove(other);
    EXPECT_TRUE(m.acquire());
}

TEST_P(Mutex, ParticipantThatCannotBeOrderedIsAnErrorThatNamesIt) {
    client c = connect();
    world_->create(path_ + "/x-lock-12345");
    mutex m(c, path_);
    try {
        const hold h = m.acquire();
        ADD_FAILURE() << "granted";
    } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::malformed_participant);
        EXPECT_NE(std::string(e.what()).find("x-lock-12345"), std::string::npos) << e.what();
    }
    std::error_code ec;
    EXPECT_FALSE(m.try_acquire(ec));
    EXPECT_EQ(ec, errc::malformed_participant) << "nobody is ahead who will ever leave";
    EXPECT_TRUE(eventually([&] { return world_->children(path_).size() == 1; }));
}

TEST_P(Mutex, NegativeSequenceIsAnErrorAndNeverAGrant) {
    client c = connect();
    world_->create(path_ + "/_c_x-lock--2147483648");
    mutex m(c, path_);
    std::error_code ec;
    EXPECT_FALSE(m.acquire({}, ec));
    EXPECT_EQ(ec, errc::sequence_exhausted);
}

TEST_P(Mutex, BadPathsAreRefusedAtOnce) {
    client c = connect();
    for (const char* bad :
         {"", "relative", "/", "/a//b", "/a/", "/a/../b", "/a/\x01", "/zookeeper/x"}) {
        try {
            const mutex m(c, bad);
            ADD_FAILURE() << bad;
        } catch (const error& e) {
            EXPECT_EQ(e.code(), errc::invalid_argument) << bad;
        }
    }
}

TEST_P(Mutex, WorksBelowAChrootThatIsNotThere) {
    const std::string chroot = world_->fresh_path() + "/deep/down";
    client c = world_->connect(patient(), chroot);
    mutex m(c, "/lock");
    hold h = m.acquire();
    EXPECT_TRUE(h.path().starts_with("/lock/")) << h.path();
    EXPECT_EQ(world_->children(chroot + "/lock").size(), 1U);
    EXPECT_EQ(m.participants().size(), 1U);
    client other = world_->connect(patient(), chroot);
    mutex behind(other, "/lock");
    const auto let_go = [&h](const queue_position&) { h.release(); };
    EXPECT_TRUE(behind.try_acquire_for(1min, {.stop = {}, .reserved = let_go}))
        << "its watch on the predecessor is below it, too";
}

LATCHKEY_IN_THIS_WORLD(Mutex);

}  // namespace
}  // namespace latchkey::test

#include "in_time.hpp"
#include "queued.hpp"
#include "recipe_test.hpp"
#include "waiter.hpp"

#include <future>
#include <stop_token>
#include <string>

#include <gmock/gmock.h>
#include <unistd.h>

namespace latchkey::test {
namespace {

class Mutex : public TwoLocksTest<mutex> {};

TEST_P(Mutex, IsGrantedWhenNobodyIsThereWithAZnodeThatIsNamedAsCuratorDoes) {
    const auto before = boottime_clock::now();
    const hold h = mine_.acquire();
    EXPECT_TRUE(h);
    EXPECT_TRUE(h.valid());
    EXPECT_GT(h.token().zxid, 0);
    EXPECT_EQ(h.why_lost(), loss_reason::none);
    EXPECT_FALSE(h.lost().stop_requested());
    EXPECT_GT(h.valid_until(), before);
    EXPECT_LE(h.valid_until(), boottime_clock::now() + a_.session_timeout());
    EXPECT_THAT(world_->children(path_), ::testing::ElementsAre(h.path().substr(path_.size() + 1)));
    EXPECT_THAT(
        h.path().substr(path_.size()),
        ::testing::MatchesRegex("/_c_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-lock-[0-9]{10}"));
}

TEST_P(Mutex, ParticipantThatWasAloneForLongWaitsForTheNextOne) {
    for (int i = 0; i < 5; ++i) {
        mine_.acquire().release();
    }
    hold theirs = other_.acquire();
    EXPECT_FALSE(in_time(100ms, [&](auto limit) { return mine_.try_acquire_for(limit); }));
    EXPECT_TRUE(theirs.valid());
    ASSERT_TRUE(theirs.release_and_wait());
    EXPECT_TRUE(mine_.acquire());
}

TEST_P(Mutex, ParticipantThatWasAloneForLongWaitsInADirectoryThatWasMadeAgain) {
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(mine_.acquire().release_and_wait());
    }
    world_->remove(path_);
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(other_.acquire().release_and_wait());
    }
    const hold theirs = other_.acquire();
    EXPECT_TRUE(theirs.path().ends_with("0000000002"));  // the first one's last number
    EXPECT_FALSE(in_time(100ms, [&](auto limit) { return mine_.try_acquire_for(limit); }));
    EXPECT_TRUE(theirs.valid());
}

TEST_P(Mutex, TellsThePlaceWhenItIsReserved) {
    mutex second(a_, path_);
    const hold h = mine_.acquire();
    blocking_result<queue_position> told;
    std::stop_source stop;
    auto waiting = std::async(std::launch::async, [&] {
        return second.acquire(
            {.stop = stop.get_token(), .reserved = [&](const queue_position& p) { told.set(p); }});
    });
    const queue_position p = told.get();
    EXPECT_EQ(p.position, 1U);
    EXPECT_EQ(path_ + "/" + p.predecessor, h.path());
    EXPECT_TRUE(p.path.starts_with(path_));
    stop.request_stop();
    EXPECT_FALSE(waiting.get());
}

TEST_P(Mutex, TryAcquireTakesAFreeLockAndNotAHeldOne) {
    hold h = mine_.try_acquire();
    EXPECT_TRUE(h);
    EXPECT_FALSE(other_.try_acquire());
    EXPECT_FALSE(other_.try_acquire_for(0s));
    EXPECT_FALSE(in_time(50ms, [&](auto limit) { return other_.try_acquire_for(limit); }));
    EXPECT_FALSE(in_time(50ms, [&](auto limit) {
        return other_.try_acquire_until(std::chrono::steady_clock::now() + limit);
    }));
    EXPECT_EQ(world_->children(path_).size(), 1U);
    EXPECT_TRUE(h.release_and_wait());
    // Another server may show the old state for a moment.
    EXPECT_TRUE(eventually([&] { return static_cast<bool>(other_.try_acquire()); }));
}

TEST_P(Mutex, TokensIncreaseFromHolderToHolder) {
    fencing_token last;
    for (int i = 0; i < 5; ++i) {
        for (mutex* m : {&mine_, &other_}) {
            const hold h = m->acquire();
            EXPECT_GT(h.token(), last);
            last = h.token();
        }
    }
}

TEST_P(Mutex, TokensIncreaseWhenTheDirectoryIsMadeAnew) {
    hold h = mine_.acquire();
    const auto before = h.token();
    ASSERT_TRUE(h.release_and_wait());
    world_->remove(path_);  // as the servers remove an empty container
    h = mine_.acquire();
    EXPECT_TRUE(h.path().ends_with("0000000000"));
    EXPECT_GT(h.token(), before);
}

TEST_P(Mutex, ParticipantsAreToldInOrderWithWhoTheyAre) {
    mutex second(a_, path_);
    EXPECT_TRUE(mine_.participants().empty());
    EXPECT_EQ(mine_.holder(), std::nullopt);
    const hold h = mine_.acquire();
    const waiter waiting(second);
    ASSERT_TRUE(eventually([&] { return mine_.participants().size() == 2; }));
    const auto all = mine_.participants();
    const participant& holder = all[0];
    EXPECT_LT(holder.sequence, all[1].sequence);
    EXPECT_EQ(path_ + "/" + holder.name, h.path());
    EXPECT_EQ(holder.path, h.path());
    EXPECT_TRUE(holder.ephemeral);
    EXPECT_EQ(holder.czxid, h.token().zxid);
    EXPECT_EQ(holder.session_id, a_.session_id());
    ASSERT_TRUE(holder.identified);
    EXPECT_EQ(holder.identified->pid, ::getpid());
    EXPECT_EQ(holder.identified->mode, "exclusive");
    EXPECT_LE(holder.data.size(), 512U);
    EXPECT_EQ(mine_.holder().value().name, holder.name);
}

TEST_P(Mutex, DataOfTheUserIsTheZnodesData) {
    mutex m(a_, path_, {.data = "backup of disk 7", .access = {}});
    const hold h = m.acquire();
    EXPECT_EQ(world_->get(h.path()), "backup of disk 7");
    ASSERT_TRUE(m.holder());
    EXPECT_FALSE(m.holder()->identified);
    EXPECT_THROW(mutex(a_, path_, {.data = std::string(513, 'x'), .access = {}}), error);
}

TEST_P(Mutex, ForeignChildrenTakeNoPart) {
    world_->create(path_ + "/notes");
    world_->create(path_ + "/lock-of-somebody");
    EXPECT_TRUE(mine_.try_acquire());
    EXPECT_TRUE(mine_.acquire());
}

TEST_P(Mutex, ParticipantOfAnotherLibraryIsWaitedFor) {
    const std::string other = path_ + "/_c_0123456789abcdef0123456789abcdef-lock-0000000000";
    world_->create(other);
    world_->create(path_ + "/another-child");  // so that our own number comes after it
    EXPECT_FALSE(mine_.try_acquire());
    EXPECT_FALSE(in_time(100ms, [&](auto limit) { return mine_.try_acquire_for(limit); }));
    world_->remove(other);
    EXPECT_TRUE(mine_.acquire());
}

TEST_P(Mutex, ParticipantThatCannotBeOrderedIsAnErrorThatNamesIt) {
    world_->create(path_ + "/x-lock-12345");
    EXPECT_TRUE(
        fails_with(errc::malformed_participant, [&] { return mine_.acquire(); }, {"x-lock-12345"}));
    EXPECT_EQ(code_of([&](auto& ec) { return mine_.try_acquire(ec); }), errc::malformed_participant)
        << "nobody is ahead who will ever leave";
    EXPECT_TRUE(has_children(1));
}

TEST_P(Mutex, NegativeSequenceIsAnErrorAndNeverAGrant) {
    world_->create(path_ + "/_c_x-lock--2147483648");
    EXPECT_EQ(code_of([&](auto& ec) { EXPECT_FALSE(mine_.acquire({}, ec)); }),
              errc::sequence_exhausted);
}

TEST_P(Mutex, BadPathsAreRefusedAtOnce) {
    for (const char* bad :
         {"", "relative", "/", "/a//b", "/a/", "/a/../b", "/a/\x01", "/zookeeper/x"}) {
        EXPECT_TRUE(is_invalid([&] { const mutex m(a_, bad); })) << bad;
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

// A mutex, Curator's InterProcessMutex, kazoo's Lock and ZooKeeper's own WriteLock on one path.
#include <latchkey/multi_mutex.hpp>
#include <latchkey/mutex.hpp>

#include "in_time.hpp"
#include "interop_test.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class MutexInterop : public InteropTest {
protected:
    client client_ = connect();
    mutex mutex_{client_, path_, {.data = "ours", .access = {}}};
    mutex other_{client_, path_, {.data = "too", .access = {}}};  ///< a participant of its own
};

TEST_F(MutexInterop, CuratorWaitsForUsAndWeForCurator) {
    java().open("m", "mutex", path_);
    hold ours = mutex_.acquire();
    EXPECT_FALSE(java().try_acquire("m", 200ms));
    auto theirs = java().acquire("m");
    ASSERT_TRUE(queue_has(2));
    EXPECT_FALSE(is_ready(theirs, 100ms));
    ours.release();
    answer_of(std::move(theirs));
    EXPECT_FALSE(mutex_.try_acquire());
    EXPECT_FALSE(in_time(200ms, [&](auto limit) { return mutex_.try_acquire_for(limit); }));
    auto next = queued(mutex_);
    EXPECT_FALSE(is_granted(next, 100ms));
    java().release("m");
    EXPECT_TRUE(next.get());
    EXPECT_TRUE(queue_has(0));
}

TEST_F(MutexInterop, CuratorAndWeTakeTurnsInTheOrderOfArrival) {
    java().open("a", "mutex", path_);
    java().open("b", "mutex", path_);
    hold first = mutex_.acquire();
    auto second = java().acquire("a");
    ASSERT_TRUE(queue_has(2));
    auto third = queued(other_);
    auto fourth = java().acquire("b");
    ASSERT_TRUE(queue_has(4));
    first.release();
    answer_of(std::move(second));
    EXPECT_FALSE(is_granted(third, 100ms));
    java().release("a");
    hold h = third.get();
    EXPECT_TRUE(h.valid());
    EXPECT_FALSE(is_ready(fourth, 100ms));
    h.release();
    answer_of(std::move(fourth));
}

TEST_F(MutexInterop, ParticipantsAreSeenFromBothSides) {
    java().open("m", "mutex", path_);
    const hold ours = mutex_.acquire();
    auto theirs = java().acquire("m");
    ASSERT_TRUE(queue_has(2));

    const auto seen = mutex_.participants();
    ASSERT_THAT(seen, SizeIs(2));
    EXPECT_THAT(ours.path(), EndsWith('/' + seen[0].name));
    EXPECT_EQ(seen[0].data, "ours");
    EXPECT_THAT(seen[1].name, HasSubstr("-lock-"));
    EXPECT_NE(seen[1].session_id, seen[0].session_id);
    EXPECT_FALSE(seen[1].identified) << "Curator tells its host, and not by our record";
    EXPECT_THAT(java().participants("m"), ElementsAre(seen[0].name, seen[1].name));
}

TEST_F(MutexInterop, CuratorIsNextWhenOurSessionEnds) {
    java().open("m", "mutex", path_);
    const hold ours = mutex_.acquire();
    auto theirs = java().acquire("m");
    ASSERT_TRUE(queue_has(2));
    world_->expire(mutex_.participants().at(0).session_id);
    answer_of(std::move(theirs));
    EXPECT_TRUE(eventually([&] { return !ours.valid(); }));
    EXPECT_FALSE(mutex_.try_acquire());
}

TEST_F(MutexInterop, CuratorIsNextWhenOurZnodeIsDeleted) {
    java().open("m", "mutex", path_);
    const hold ours = mutex_.acquire();
    auto theirs = java().acquire("m");
    ASSERT_TRUE(queue_has(2));
    world_->remove(ours.path());
    answer_of(std::move(theirs));
    EXPECT_TRUE(eventually([&] { return ours.why_lost() == loss_reason::znode_deleted; }));
}

TEST_F(MutexInterop, KazooWithCuratorsNamesWaitsForAllAndAllForIt) {
    python().open("m", "mutex", path_);
    java().open("m", "mutex", path_);
    hold ours = mutex_.acquire();
    auto kazoos = python().acquire("m");
    ASSERT_TRUE(queue_has(2));
    auto curators = java().acquire("m");
    ASSERT_TRUE(queue_has(3));
    auto last = queued(other_);
    EXPECT_THAT(python().participants("m"), ElementsAre("ours", "kazoo", ::testing::_, "too"));
    EXPECT_EQ(mutex_.participants().at(1).data, "kazoo");
    EXPECT_FALSE(is_ready(kazoos, 100ms));
    ours.release();
    answer_of(std::move(kazoos));
    EXPECT_FALSE(is_ready(curators, 100ms));
    python().release("m");
    answer_of(std::move(curators));
    EXPECT_FALSE(is_granted(last, 100ms));
    java().release("m");
    EXPECT_TRUE(last.get());
}

TEST_F(MutexInterop, RecordOfADelayDisturbsNeitherCuratorNorKazoo) {
    java().open("m", "mutex", path_);
    python().open("m", "mutex", path_);
    client third = connect();
    mutex delayed(third, path_, {.lock_delay = 1h});
    hold ours = delayed.acquire();
    auto kazoos = python().acquire("m");
    ASSERT_TRUE(queue_has(3)) << "with the record";
    auto curators = java().acquire("m");
    ASSERT_TRUE(queue_has(4));
    EXPECT_FALSE(is_ready(kazoos, 100ms));
    EXPECT_FALSE(is_ready(curators, 100ms));
    ours.release();
    answer_of(std::move(kazoos));
    EXPECT_FALSE(is_ready(curators, 100ms));
    python().release("m");
    answer_of(std::move(curators));
    java().release("m");

    hold lost = delayed.acquire();
    curators = java().acquire("m");
    ASSERT_TRUE(queue_has(3));
    world_->expire(delayed.participants().at(0).session_id);
    answer_of(std::move(curators));
    kazoos = python().acquire("m");
    ASSERT_TRUE(queue_has(3));
    EXPECT_FALSE(is_ready(kazoos, 100ms)) << "the record of the dead holder is no participant";
    java().release("m");
    answer_of(std::move(kazoos));
    python().release("m");
    EXPECT_FALSE(in_time(200ms, [&](auto limit) { return mutex_.try_acquire_for(limit); }))
        << "we do wait";
}

TEST_F(MutexInterop, MultiMutexTakesTurnsWithCuratorOnEachPath) {
    multi_mutex both(client_, {path_ + "/a", path_ + "/b"});
    java().open("a", "mutex", path_ + "/a");
    java().open("both", "multi", path_);
    hold ours = both.acquire();
    EXPECT_FALSE(java().try_acquire("a", 200ms));
    EXPECT_FALSE(java().try_acquire("both", 200ms));
    ours.release();
    answer_of(java().acquire("both"));
    EXPECT_FALSE(in_time(200ms, [&](auto limit) { return both.try_acquire_for(limit); }));
    java().release("both");
    EXPECT_TRUE(both.acquire());
}

TEST_F(MutexInterop, OneOfCuratorsThatTakesPathsOneByOneHasToGiveUpBesideAMultiMutex) {
    multi_mutex both(client_, {path_ + "/a", path_ + "/b"});
    java().open("a", "mutex", path_ + "/a");
    java().open("b", "mutex", path_ + "/b");
    answer_of(java().acquire("a"));
    auto ours = queued(both);
    EXPECT_FALSE(java().try_acquire("b", 200ms)) << "it waits behind us, as we do behind it";
    EXPECT_FALSE(is_granted(ours));
    java().release("a");
    EXPECT_TRUE(ours.get());
}

// What works in one direction only: docs/interoperation.md.

TEST_F(MutexInterop, KazooWithOurPatternWaitsForUsAndWeForItAndCuratorNot) {
    python().open("m", "patterns", path_);
    java().open("m", "mutex", path_);
    hold ours = mutex_.acquire();
    EXPECT_FALSE(python().try_acquire("m", 200ms));
    auto theirs = python().acquire("m");
    ASSERT_TRUE(queue_has(2));
    EXPECT_FALSE(is_ready(theirs, 100ms));
    catch_up(client_);
    EXPECT_EQ(mutex_.participants().at(1).data, "kazoo");
    EXPECT_THAT(python().participants("m"), ElementsAre("ours", "kazoo"));
    ours.release();
    answer_of(std::move(theirs));
    EXPECT_FALSE(mutex_.try_acquire());
    auto next = queued(mutex_);
    EXPECT_FALSE(is_granted(next, 100ms));
    EXPECT_FALSE(java().try_acquire("m", 200ms)) << "behind us";
    python().release("m");
    hold h = next.get();
    EXPECT_TRUE(h.valid());
    h.release();
    answer_of(python().acquire("m"));
    EXPECT_TRUE(java().try_acquire("m", 30s)) << "Curator cannot see kazoo's names";
}

TEST_F(MutexInterop, KazooAsItIsWaitsForNobodyElse) {
    python().open("m", "lock", path_);
    hold ours = mutex_.acquire();
    EXPECT_TRUE(python().try_acquire("m", 30s));
    EXPECT_TRUE(ours.valid());
    ours.release();
    EXPECT_FALSE(mutex_.try_acquire()) << "we wait for it all the same";
}

TEST_F(MutexInterop, ZooKeepersOwnRecipeWaitsForUsAndWeNotForIt) {
    java().open("m", "recipe", path_);
    hold ours = mutex_.acquire();
    auto theirs = java().acquire("m");
    ASSERT_TRUE(queue_has(2));
    EXPECT_FALSE(is_ready(theirs, 100ms));
    ours.release();
    answer_of(std::move(theirs));
    EXPECT_TRUE(mutex_.try_acquire());
}

}  // namespace
}  // namespace latchkey::test

// A shared_mutex and Curator's InterProcessReadWriteLock on one path.
#include <latchkey/shared_mutex.hpp>

#include "in_time.hpp"
#include "interop_test.hpp"

#include <string>
#include <vector>

namespace latchkey::test {
namespace {

using enum lock_mode;
using ::testing::ElementsAre;
using ::testing::SizeIs;

class SharedMutexInterop : public InteropTest {
protected:
    client client_ = connect();
    shared_mutex shared_{client_, path_};
};

TEST_F(SharedMutexInterop, ReadersOfBothHoldTogetherAndAWriterAlone) {
    java().open("r", "read", path_);
    java().open("w", "write", path_);
    hold ours = shared_.acquire(shared);
    answer_of(java().acquire("r"));
    EXPECT_FALSE(java().try_acquire("w", 200ms));
    EXPECT_FALSE(shared_.try_acquire(exclusive));
    auto writer = queued(shared_, exclusive);
    ours.release();
    EXPECT_FALSE(is_granted(writer, 100ms)) << "a reader of Curator's is there";
    java().release("r");
    hold w = writer.get();
    EXPECT_TRUE(w.valid());
    EXPECT_FALSE(java().try_acquire("r", 200ms));
    EXPECT_FALSE(java().try_acquire("w", 200ms));
    w.release();
    answer_of(java().acquire("w"));
    EXPECT_FALSE(shared_.try_acquire(shared));
    java().release("w");
}

TEST_F(SharedMutexInterop, BothGrantInTheOrderOfArrival) {
    java().open("r", "read", path_);
    java().open("w", "write", path_);
    hold first = shared_.acquire(shared);
    auto writer = java().acquire("w");
    ASSERT_TRUE(queue_has(2));
    auto behind = queued(shared_, shared);
    auto last = java().acquire("r");
    ASSERT_TRUE(queue_has(4));
    EXPECT_FALSE(is_granted(behind, 100ms));
    first.release();
    answer_of(std::move(writer));
    EXPECT_FALSE(is_granted(behind, 100ms));
    EXPECT_FALSE(is_ready(last));
    java().release("w");
    EXPECT_TRUE(behind.get());
    answer_of(std::move(last));
}

TEST_F(SharedMutexInterop, OurDowngradeLetsCuratorsReadersInAndNotItsWriters) {
    java().open("r", "read", path_);
    java().open("w", "write", path_);
    hold ours = shared_.acquire(exclusive);
    auto reader = java().acquire("r");
    ASSERT_TRUE(queue_has(2));
    auto writer = java().acquire("w");
    ASSERT_TRUE(queue_has(3));
    ASSERT_TRUE(shared_.convert(ours, shared));
    answer_of(std::move(reader));
    java().release("r");
    EXPECT_FALSE(is_ready(writer, 100ms)) << "we read still";
    ours.release();
    answer_of(std::move(writer));
}

TEST_F(SharedMutexInterop, OurUpgraderIsAWriterToCuratorAndWaitsForItsReaders) {
    java().open("early", "read", path_);
    java().open("late", "read", path_);
    answer_of(java().acquire("early"));
    hold ours = shared_.acquire(upgrade);
    auto late = java().acquire("late");
    ASSERT_TRUE(queue_has(3));
    EXPECT_FALSE(is_ready(late, 100ms));
    EXPECT_FALSE(in_time(
        200ms, [&](auto limit) { return shared_.try_convert_for(ours, exclusive, limit); }));
    java().release("early");
    EXPECT_TRUE(shared_.convert(ours, exclusive));
    EXPECT_FALSE(is_ready(late, 100ms));
    ours.release();
    answer_of(std::move(late));
}

TEST_F(SharedMutexInterop, ParticipantsAreSeenFromBothSides) {
    java().open("r", "read", path_);
    const hold ours = shared_.acquire(shared);
    answer_of(java().acquire("r"));
    const auto seen = shared_.participants();
    ASSERT_THAT(seen, SizeIs(2));
    EXPECT_EQ(seen[0].identified.value().mode, "shared");
    EXPECT_THAT(java().participants("r"), ElementsAre(seen[0].name, seen[1].name));
}

TEST_F(SharedMutexInterop, KazooWithCuratorsNamesReadsAndWritesWithAll) {
    python().open("r", "read", path_);
    python().open("w", "write", path_);
    java().open("r", "read", path_);
    hold ours = shared_.acquire(shared);
    answer_of(python().acquire("r"));
    answer_of(java().acquire("r"));
    auto writer = python().acquire("w");
    ASSERT_TRUE(queue_has(4));
    auto behind = queued(shared_, shared);
    ours.release();
    java().release("r");
    EXPECT_FALSE(is_ready(writer, 100ms));
    python().release("r");
    answer_of(std::move(writer));
    EXPECT_FALSE(is_granted(behind, 100ms));
    python().release("w");
    EXPECT_TRUE(behind.get());
}

TEST_F(SharedMutexInterop, KazooAsItIsIsAnotherLock) {
    python().open("r", "kazoo-read", path_);
    python().open("w", "kazoo-write", path_);
    const hold ours = shared_.acquire(exclusive);
    EXPECT_TRUE(python().try_acquire("w", 30s));
    python().release("w");
    EXPECT_TRUE(python().try_acquire("r", 30s));
    EXPECT_EQ(shared_.participants().size(), 1U);
}

}  // namespace
}  // namespace latchkey::test

// A curator_semaphore and Curator's InterProcessSemaphoreV2 on one path.
#include <latchkey/curator_semaphore.hpp>

#include "interop_test.hpp"

#include <string>
#include <vector>

namespace latchkey::test {
namespace {

using ::testing::SizeIs;

class SemaphoreInterop : public InteropTest {
protected:
    [[nodiscard]] bool guard_has(std::size_t participants) {
        return eventually(
            [&] { return world_->children(path_ + "/locks").size() == participants; });
    }

    client client_ = connect();
    curator_semaphore semaphore_{client_, path_, 2};
};

TEST_F(SemaphoreInterop, PermitsAreSharedWithCurator) {
    java().open("s", "semaphore", path_, 2);
    java().open("t", "semaphore", path_, 2);
    hold ours = semaphore_.acquire();
    answer_of(java().acquire("s"));
    EXPECT_EQ(semaphore_.available(), 0U);
    EXPECT_FALSE(semaphore_.try_acquire());
    EXPECT_FALSE(java().try_acquire("t", 200ms));
    auto next = java().acquire("t");
    ASSERT_TRUE(guard_has(1));
    EXPECT_FALSE(is_ready(next, 100ms));
    ours.release();
    answer_of(std::move(next));
    auto last = queued(semaphore_, 1U);
    EXPECT_FALSE(is_granted(last, 100ms));
    java().release("s");
    EXPECT_TRUE(last.get());
}

TEST_F(SemaphoreInterop, BothQueueInTheOrderOfArrival) {
    java().open("s", "semaphore", path_, 2);
    hold ours = semaphore_.acquire();
    auto pair = queued(semaphore_, 2U);
    auto theirs = java().acquire("s");
    ASSERT_TRUE(guard_has(2));
    EXPECT_FALSE(is_ready(theirs, 100ms)) << "overtaken: large requests would starve";
    ours.release();
    hold both = pair.get();
    EXPECT_TRUE(both.valid());
    EXPECT_FALSE(is_ready(theirs, 100ms));
    both.release();
    answer_of(std::move(theirs));
}

TEST_F(SemaphoreInterop, CuratorTakesSeveralAndNeverTwoTooMany) {
    java().open("s", "semaphore", path_, 2);
    answer_of(java().acquire("s", 2));
    auto pair = queued(semaphore_, 2U);
    EXPECT_FALSE(is_granted(pair, 100ms));
    java().release("s");
    hold both = pair.get();
    EXPECT_FALSE(java().try_acquire("s", 200ms, 2));
    both.release();
    EXPECT_TRUE(java().try_acquire("s", 30s, 2));
}

TEST_F(SemaphoreInterop, ParticipantsAreSeenFromBothSides) {
    java().open("s", "semaphore", path_, 2);
    const hold ours = semaphore_.acquire();
    answer_of(java().acquire("s"));
    const auto seen = semaphore_.participants();
    ASSERT_THAT(seen, SizeIs(2));
    EXPECT_THAT(java().participants("s"),
                ::testing::UnorderedElementsAre(seen[0].name, seen[1].name));
}

TEST_F(SemaphoreInterop, PermitsOfOurLostSessionAreFreeForCurator) {
    java().open("s", "semaphore", path_, 2);
    const hold ours = semaphore_.acquire(2);
    auto theirs = java().acquire("s", 2);
    ASSERT_TRUE(guard_has(1));
    world_->expire(client_.session_id());
    answer_of(std::move(theirs));
    EXPECT_TRUE(eventually([&] { return !ours.valid(); }));
}

}  // namespace
}  // namespace latchkey::test

// A curator_semaphore and Curator's InterProcessSemaphoreV2 on one path.
#include <latchkey/curator_semaphore.hpp>

#include "interop_test.hpp"

namespace latchkey::test {
namespace {

using ::testing::SizeIs;

class SemaphoreInterop : public InteropTest {
protected:
    client client_ = connect();
    curator_semaphore semaphore_{client_, path_, 2};
    peer_lock curator_ = curators("semaphore", 2);
};

TEST_F(SemaphoreInterop, PermitsAreSharedWithCurator) {
    const peer_lock second = curators("semaphore", 2);
    hold ours = semaphore_.acquire();
    answer_of(curator_.acquire());
    EXPECT_EQ(semaphore_.available(), 0U);
    EXPECT_FALSE(semaphore_.try_acquire());
    EXPECT_FALSE(second.try_acquire(200ms));
    auto next = second.acquire();
    ASSERT_TRUE(queue_has(1, "/locks"));
    EXPECT_FALSE(is_ready(next, 100ms));
    ours.release();
    answer_of(std::move(next));
    auto last = queued(semaphore_, 1U);
    EXPECT_FALSE(is_granted(last, 100ms));
    curator_.release();
    EXPECT_TRUE(last.get());
}

TEST_F(SemaphoreInterop, BothQueueInTheOrderOfArrival) {
    hold ours = semaphore_.acquire();
    auto pair = queued(semaphore_, 2U);
    auto curators_turn = curator_.acquire();
    ASSERT_TRUE(queue_has(2, "/locks"));
    EXPECT_FALSE(is_ready(curators_turn, 100ms)) << "overtaken: large requests would starve";
    ours.release();
    hold both = pair.get();
    EXPECT_TRUE(both.valid());
    EXPECT_FALSE(is_ready(curators_turn, 100ms));
    both.release();
    answer_of(std::move(curators_turn));
}

TEST_F(SemaphoreInterop, CuratorTakesSeveralAndNeverTwoTooMany) {
    answer_of(curator_.acquire(2));
    auto pair = queued(semaphore_, 2U);
    EXPECT_FALSE(is_granted(pair, 100ms));
    curator_.release();
    hold both = pair.get();
    EXPECT_FALSE(curator_.try_acquire(200ms, 2));
    both.release();
    EXPECT_TRUE(curator_.try_acquire(30s, 2));
}

TEST_F(SemaphoreInterop, ParticipantsAreSeenFromBothSides) {
    const hold ours = semaphore_.acquire();
    answer_of(curator_.acquire());
    const auto seen = participants_of(semaphore_, client_);
    ASSERT_THAT(seen, SizeIs(2));
    EXPECT_THAT(curator_.participants(),
                ::testing::UnorderedElementsAre(seen[0].name, seen[1].name));
}

TEST_F(SemaphoreInterop, PermitsOfOurLostSessionAreFreeForCurator) {
    const hold ours = semaphore_.acquire(2);
    auto next = curator_.acquire(2);
    ASSERT_TRUE(queue_has(1, "/locks"));
    world_->expire(client_.session_id());
    answer_of(std::move(next));
    EXPECT_TRUE(eventually([&] { return !ours.valid(); }));
}

}  // namespace
}  // namespace latchkey::test

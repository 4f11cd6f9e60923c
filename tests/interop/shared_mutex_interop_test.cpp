// A shared_mutex and Curator's InterProcessReadWriteLock on one path.
#include <latchkey/shared_mutex.hpp>

#include "in_time.hpp"
#include "interop_test.hpp"

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

TEST_F(SharedMutexInterop, WritersOfAllLibrariesTakeTurnsInTheOrderOfArrival) {
    expect_turns_in_this_order({ours(shared_, exclusive),
                                theirs(curators("write")),
                                ours(shared_, shared),
                                theirs(kazoos("write")),
                                theirs(curators("read")),
                                ours(shared_, exclusive),
                                theirs(kazoos("read"))});
}

TEST_F(SharedMutexInterop, ReadersOfAllLibrariesHoldTogetherAndAWriterAlone) {
    const peer_lock curator = curators("read");
    const peer_lock kazoo = kazoos("read");
    for (const contender& writer :
         {ours(shared_, exclusive), theirs(curators("write")), theirs(kazoos("write"))}) {
        hold ours = shared_.acquire(shared);
        answer_of(curator.acquire());
        answer_of(kazoo.acquire());
        EXPECT_FALSE(writer.tries());
        writer.queue();
        ASSERT_TRUE(queue_has(4));
        auto behind = queued(shared_, shared);
        ours.release();
        curator.release();
        EXPECT_FALSE(is_granted(behind, 100ms));
        EXPECT_FALSE(writer.is_granted()) << "a reader is there";
        kazoo.release();
        ASSERT_TRUE(eventually([&] { return writer.is_granted(); }));
        EXPECT_FALSE(is_granted(behind, 100ms));
        EXPECT_FALSE(shared_.try_acquire(shared));
        EXPECT_FALSE(curator.try_acquire(200ms));
        writer.release();
        EXPECT_TRUE(behind.get());
    }
}

TEST_F(SharedMutexInterop, OurDowngradeLetsCuratorsReadersInAndNotItsWriters) {
    const peer_lock read = curators("read");
    hold ours = shared_.acquire(exclusive);
    auto reader = read.acquire();
    ASSERT_TRUE(queue_has(2));
    auto writer = curators("write").acquire();
    ASSERT_TRUE(queue_has(3));
    ASSERT_TRUE(shared_.convert(ours, shared));
    answer_of(std::move(reader));
    read.release();
    EXPECT_FALSE(is_ready(writer, 100ms)) << "we read still";
    ours.release();
    answer_of(std::move(writer));
}

TEST_F(SharedMutexInterop, OurUpgraderIsAWriterToCuratorAndWaitsForItsReaders) {
    const peer_lock early = curators("read");
    answer_of(early.acquire());
    hold ours = shared_.acquire(upgrade);
    auto late = curators("read").acquire();
    ASSERT_TRUE(queue_has(3));
    EXPECT_FALSE(is_ready(late, 100ms));
    EXPECT_FALSE(in_time(
        200ms, [&](auto limit) { return shared_.try_convert_for(ours, exclusive, limit); }));
    early.release();
    EXPECT_TRUE(shared_.convert(ours, exclusive));
    EXPECT_FALSE(is_ready(late, 100ms));
    ours.release();
    answer_of(std::move(late));
}

TEST_F(SharedMutexInterop, ParticipantsAreSeenFromBothSides) {
    const peer_lock curator = curators("read");
    const hold ours = shared_.acquire(shared);
    answer_of(curator.acquire());
    const auto seen = participants_of(shared_, client_);
    ASSERT_THAT(seen, SizeIs(2));
    EXPECT_EQ(seen[0].identified.value().mode, "shared");
    EXPECT_THAT(curator.participants(), ElementsAre(seen[0].name, seen[1].name));
}

TEST_F(SharedMutexInterop, KazooAsItIsIsAnotherLock) {
    const hold ours = shared_.acquire(exclusive);
    const peer_lock writer = kazoos("kazoo-write");
    EXPECT_TRUE(writer.try_acquire(30s));
    writer.release();
    EXPECT_TRUE(kazoos("kazoo-read").try_acquire(30s));
    EXPECT_THAT(participants_of(shared_, client_), SizeIs(1));
}

}  // namespace
}  // namespace latchkey::test

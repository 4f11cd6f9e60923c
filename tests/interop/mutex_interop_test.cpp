// A mutex, Curator's InterProcessMutex, kazoo's Lock and ZooKeeper's own WriteLock on one path; and
// requests to give it up, of Curator's Revoker and of ours.
#include <latchkey/multi_mutex.hpp>
#include <latchkey/mutex.hpp>

#include "in_time.hpp"
#include "interop_test.hpp"

#include <stop_token>
#include <string>

namespace latchkey::test {
namespace {

using ::testing::_;
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

TEST_F(MutexInterop, CuratorAndWeTakeTurnsInTheOrderOfArrival) {
    expect_turns_in_this_order({ours(mutex_),
                                theirs(curators("mutex")),
                                ours(other_),
                                theirs(curators("mutex")),
                                theirs(curators("mutex"))});
}

TEST_F(MutexInterop, KazooWithCuratorsNamesWaitsForAllAndAllForIt) {
    expect_turns_in_this_order({ours(mutex_),
                                theirs(kazoos("mutex")),
                                theirs(curators("mutex")),
                                theirs(kazoos("mutex")),
                                ours(other_)});
}

TEST_F(MutexInterop, ParticipantsAreSeenFromAllSides) {
    const peer_lock kazoo = kazoos("mutex");
    const peer_lock curator = curators("mutex");
    const hold ours = mutex_.acquire();
    auto kazoos_turn = kazoo.acquire();
    ASSERT_TRUE(queue_has(2));
    auto curators_turn = curator.acquire();
    ASSERT_TRUE(queue_has(3));

    const auto seen = participants_of(mutex_, client_);
    ASSERT_THAT(seen, SizeIs(3));
    EXPECT_THAT(ours.path(), EndsWith('/' + seen[0].name));
    EXPECT_EQ(seen[0].data, "ours");
    EXPECT_EQ(seen[1].data, "kazoo");
    EXPECT_THAT(seen[2].name, HasSubstr("-lock-"));
    EXPECT_NE(seen[2].session_id, seen[0].session_id);
    EXPECT_FALSE(seen[2].identified) << "Curator tells its host, and not by our record";
    EXPECT_THAT(curator.participants(), ElementsAre(seen[0].name, seen[1].name, seen[2].name));
    EXPECT_THAT(kazoo.participants(), ElementsAre("ours", "kazoo", _));
}

TEST_F(MutexInterop, CuratorIsNextWhenOurSessionEndsOrOurZnodeIsDeleted) {
    const peer_lock curator = curators("mutex");
    for (const bool session_ends : {true, false}) {
        const hold ours = mutex_.acquire();
        auto next = curator.acquire();
        ASSERT_TRUE(queue_has(2));
        if (session_ends) {
            world_->expire(client_.session_id());
        } else {
            world_->remove(ours.path());
        }
        answer_of(std::move(next));
        EXPECT_TRUE(eventually([&] { return !ours.valid(); }));
        EXPECT_TRUE(session_ends || ours.why_lost() == loss_reason::znode_deleted);
        EXPECT_FALSE(mutex_.try_acquire());
        curator.release();
    }
}

TEST_F(MutexInterop, RecordOfADelayDisturbsNeitherCuratorNorKazoo) {
    const peer_lock curator = curators("mutex");
    const peer_lock kazoo = kazoos("mutex");
    client third = connect();
    mutex delayed(third, path_, {.lock_delay = 1h});
    hold ours = delayed.acquire();
    auto kazoos_turn = kazoo.acquire();
    ASSERT_TRUE(queue_has(3)) << "with the record";
    auto curators_turn = curator.acquire();
    ASSERT_TRUE(queue_has(4));
    EXPECT_FALSE(is_ready(kazoos_turn, 100ms));
    EXPECT_FALSE(is_ready(curators_turn));
    ours.release();
    answer_of(std::move(kazoos_turn));
    EXPECT_FALSE(is_ready(curators_turn, 100ms));
    kazoo.release();
    answer_of(std::move(curators_turn));
    curator.release();

    const hold lost = delayed.acquire();
    curators_turn = curator.acquire();
    ASSERT_TRUE(queue_has(3));
    world_->expire(delayed.participants().at(0).session_id);
    answer_of(std::move(curators_turn));
    kazoos_turn = kazoo.acquire();
    ASSERT_TRUE(queue_has(3));
    EXPECT_FALSE(is_ready(kazoos_turn, 100ms)) << "the record of the dead holder is no participant";
    curator.release();
    answer_of(std::move(kazoos_turn));
    kazoo.release();
    EXPECT_FALSE(in_time(200ms, [&](auto limit) { return mutex_.try_acquire_for(limit); }))
        << "we do wait";
}

TEST_F(MutexInterop, MultiMutexTakesTurnsWithCuratorOnEachPath) {
    multi_mutex both(client_, {path_ + "/a", path_ + "/b"});
    const peer_lock one = java().open("mutex", path_ + "/a");
    const peer_lock all = curators("multi");
    hold ours = both.acquire();
    EXPECT_FALSE(one.try_acquire(200ms));
    EXPECT_FALSE(all.try_acquire(200ms));
    ours.release();
    answer_of(all.acquire());
    EXPECT_FALSE(in_time(200ms, [&](auto limit) { return both.try_acquire_for(limit); }));
    all.release();
    EXPECT_TRUE(both.acquire());
}

TEST_F(MutexInterop, OneOfCuratorsThatTakesPathsOneByOneHasToGiveUpBesideAMultiMutex) {
    multi_mutex both(client_, {path_ + "/a", path_ + "/b"});
    const peer_lock first = java().open("mutex", path_ + "/a");
    const peer_lock second = java().open("mutex", path_ + "/b");
    answer_of(first.acquire());
    auto ours = queued(both);
    EXPECT_FALSE(second.try_acquire(200ms)) << "it waits behind us, as we do behind it";
    EXPECT_FALSE(is_granted(ours));
    first.release();
    EXPECT_TRUE(ours.get());
}

// What works in one direction only: docs/interoperation.md.

TEST_F(MutexInterop, KazooWithOurPatternWaitsForUsAndWeForItAndCuratorNot) {
    expect_turns_in_this_order({ours(mutex_), theirs(kazoos("patterns")), ours(other_)});
    answer_of(kazoos("patterns").acquire());
    EXPECT_TRUE(curators("mutex").try_acquire(30s)) << "Curator cannot see kazoo's names";
}

TEST_F(MutexInterop, KazooAsItIsWaitsForNobodyElse) {
    hold ours = mutex_.acquire();
    EXPECT_TRUE(kazoos("lock").try_acquire(30s));
    EXPECT_TRUE(ours.valid());
    ours.release();
    EXPECT_FALSE(mutex_.try_acquire()) << "we wait for it all the same";
}

TEST_F(MutexInterop, ZooKeepersOwnRecipeWaitsForUsAndWeNotForIt) {
    const peer_lock recipe = curators("recipe");
    hold ours = mutex_.acquire();
    auto next = recipe.acquire();
    // It waits forever for a predecessor that goes between its list and its watch.
    ASSERT_TRUE(recipe.says("watching"));
    EXPECT_FALSE(is_ready(next, 100ms));
    ours.release();
    answer_of(std::move(next));
    EXPECT_TRUE(mutex_.try_acquire());
}

// ---- revocation ----

using RevocationInterop = MutexInterop;

TEST_F(RevocationInterop, RequestOfCuratorsReachesOurHolder) {
    hold ours = mutex_.acquire();
    const std::stop_callback give_up(ours.revocation_requested(), [&ours] { ours.release(); });
    auto next = curators("mutex").acquire();
    ASSERT_TRUE(queue_has(2));
    EXPECT_FALSE(is_ready(next, 100ms));
    java().revoke(ours.path());
    answer_of(std::move(next));
}

TEST_F(RevocationInterop, OurRequestReachesCuratorsHolder) {
    const peer_lock revocable = curators("revocable");
    answer_of(revocable.acquire());
    catch_up(client_);
    EXPECT_TRUE(mutex_.revoke(mutex_.holder().value()));
    EXPECT_TRUE(revocable.says("revoked"));
    EXPECT_FALSE(mutex_.try_acquire());
    revocable.release();
    EXPECT_TRUE(mutex_.acquire());
}

TEST_F(RevocationInterop, DisturbsNeitherCuratorsWaitersNorOurs) {
    contender last = theirs(curators("mutex"));
    last.queue = [this, queue = last.queue] {
        queue();
        ASSERT_TRUE(queue_has(4));
        for (const participant& p : participants_of(other_, client_)) {
            EXPECT_TRUE(other_.revoke(p));
        }
    };
    expect_turns_in_this_order({ours(mutex_), theirs(curators("revocable")), ours(other_), last});
}

}  // namespace
}  // namespace latchkey::test

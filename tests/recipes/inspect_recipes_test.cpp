#include <latchkey/barrier.hpp>
#include <latchkey/curator_semaphore.hpp>
#include <latchkey/double_barrier.hpp>
#include <latchkey/group.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/leader_selector.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/shared_mutex.hpp>

#include "inspect_fixture.hpp"
#include "queue/znode_names.hpp"

#include <future>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <unistd.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// What inspect() shows of Latchkey's own recipes.
class InspectRecipes : public InspectTest {
protected:
    /// The kind, and of each participant: its permits or its mode, and whether it holds.
    [[nodiscard]] static std::string outline(const queue_view& v) {
        std::string all = to_string(v.kind);
        for (const participant& p : v.participants) {
            all +=
                p.mode ? std::string(", ") + to_string(*p.mode) : ", " + std::to_string(p.permits);
            all += p.holding ? " holds" : " waits";
        }
        return all;
    }
};

TEST_P(InspectRecipes, MutexShowsItsHolderAndItsQueue) {
    mutex first(zk_, path_);
    mutex second(others_, path_);
    const hold h = first.acquire();
    const waiter waiting(second);
    const queue_view seen = look();
    EXPECT_EQ(seen.path, path_);
    ASSERT_EQ(outline(seen), "mutex, exclusive holds, exclusive waits");
    const participant& holder = seen.participants[0];
    EXPECT_EQ(holder.path, h.path());
    EXPECT_EQ(holder.path, path_ + '/' + holder.name);
    EXPECT_EQ(holder.created, first.holder().value().created);
    EXPECT_EQ(holder.position, 0U);
    EXPECT_EQ(holder.token, h.token());
    EXPECT_EQ(holder.session_id, zk_.session_id());
    EXPECT_TRUE(holder.ephemeral && holder.session_alive && holder.readable);
    EXPECT_EQ(holder.library, participant_library::latchkey);
    EXPECT_EQ(holder.identified.value().pid, ::getpid());
    const participant& behind = seen.participants[1];
    EXPECT_FALSE(behind.token);
    EXPECT_EQ(behind.position, 1U);
    EXPECT_EQ(behind.session_id, others_.session_id());
    EXPECT_GE(behind.created, holder.created);
    EXPECT_GE(holder.existed_for, behind.created - holder.created);
    EXPECT_EQ(behind.existed_for, 0ms) << "nothing newer was read";
    EXPECT_EQ(seen.sequence_left, last_sequence + 1 - 2);
    EXPECT_THAT(seen.foreign, IsEmpty());
    EXPECT_THAT(seen.malformed, IsEmpty());
}

TEST_P(InspectRecipes, SharedMutexShowsEachThatHolds) {
    shared_mutex m(zk_, path_);
    hold one = m.acquire(lock_mode::shared);
    const hold two = m.acquire(lock_mode::shared);
    {
        const waiter writer(m, lock_mode::exclusive);
        const waiter late(m, lock_mode::shared);
        const queue_view seen = look();
        EXPECT_EQ(outline(seen),
                  "shared_mutex, shared holds, shared holds, exclusive waits, shared waits");
        EXPECT_FALSE(seen.participants[0].token) << "a shared token only identifies";
    }
    const hold upgrader = m.acquire(lock_mode::upgrade);
    const waiter late(m, lock_mode::shared);
    const queue_view seen = look();
    EXPECT_EQ(outline(seen),
              "shared_mutex, shared holds, shared holds, upgrade holds, shared waits");
    EXPECT_EQ(seen.participants[2].token, upgrader.token());
}

TEST_P(InspectRecipes, SemaphoreShowsHoldersFirstWithTheirPermits) {
    semaphore s(zk_, path_, 3);
    const hold two = s.acquire(2);
    const hold one = s.acquire();
    const waiter waiting(s, 2U);
    const queue_view seen = look();
    EXPECT_EQ(outline(seen), "semaphore, 2 holds, 1 holds, 0 waits");
    EXPECT_EQ(seen.capacity, 3U);
    EXPECT_EQ(seen.taken, 3U);
    EXPECT_EQ(seen.participants[0].path, two.path());
    EXPECT_EQ(seen.participants[2].library, participant_library::latchkey);
    EXPECT_EQ(seen.sequence_left, last_sequence + 1 - 3);
}

TEST_P(InspectRecipes, SemaphoreThatIsNotInUseIsStillOne) {
    semaphore s(zk_, path_, 3);
    ASSERT_TRUE(s.acquire().release_and_wait());
    queue_view seen = look();
    EXPECT_EQ(outline(seen), "semaphore");
    EXPECT_EQ(seen.taken, 0U);
    world_->remove(path_ + "/queue");
    world_->remove(path_ + "/permits");
    seen = look();
    EXPECT_EQ(outline(seen), "semaphore");
    EXPECT_EQ(seen.capacity, 3U);
    EXPECT_EQ(seen.sequence_left, last_sequence + 1);
}

TEST_P(InspectRecipes, CuratorSemaphoreShowsOneHolderForEachLease) {
    curator_semaphore s(zk_, path_, 2);
    const hold two = s.acquire(2);
    const waiter waiting(s, 1U);
    const queue_view seen = look();
    EXPECT_EQ(outline(seen), "curator_semaphore, 1 holds, 1 holds, 0 waits");
    EXPECT_EQ(seen.capacity, 0U) << "it is not stored";
    EXPECT_EQ(seen.taken, 2U);
    EXPECT_EQ(seen.participants[0].library, participant_library::latchkey);
}

TEST_P(InspectRecipes, LeaderElectionShowsTheLeaderAndWhatItPublished) {
    leader_latch leader(zk_, path_, {.id = "one", .data = "address"});
    const leadership term = leader.wait();
    ASSERT_TRUE(eventually([&] {
        const auto now = look().leader;
        return now && now->data == "address";
    }));
    leader_latch next(others_, path_, {.id = "two"});
    next.start();
    ASSERT_TRUE(eventually([&] { return look().participants.size() == 2; }));
    const queue_view seen = look();
    EXPECT_EQ(seen.kind, lock_kind::leader_election);
    EXPECT_THAT(holders(seen), ElementsAre(0));
    ASSERT_TRUE(seen.leader);
    EXPECT_EQ(seen.leader->id, "one");
    EXPECT_EQ(seen.leader->path, term.path());
    EXPECT_EQ(seen.leader->token, term.token());
    EXPECT_EQ(seen.participants[0].token, term.token());
    EXPECT_EQ(seen.participants[0].id, "one");
    EXPECT_EQ(seen.participants[0].library, participant_library::latchkey);
    EXPECT_EQ(seen.participants[1].id, "two");
    EXPECT_EQ(seen.participants[1].library, participant_library::unknown) << "Curator's look alike";
    EXPECT_FALSE(seen.participants[1].token);
}

TEST_P(InspectRecipes, LeaderElectionWithoutCandidatesIsKnownByItsRecord) {
    {
        leader_latch leader(zk_, path_, {.id = "one", .data = "address"});
        ASSERT_TRUE(leader.wait());
        ASSERT_TRUE(eventually([&] { return look().kind == lock_kind::leader_election; }));
    }
    ASSERT_TRUE(eventually([&] { return look().participants.empty(); }));
    const queue_view seen = look();
    EXPECT_EQ(seen.kind, lock_kind::leader_election);
    EXPECT_FALSE(seen.leader);
}

TEST_P(InspectRecipes, SelectorThatPublishesIsAnElectionAndOtherwiseAMutex) {
    // A selector has a mutex's names. Only its leader's record tells the two apart.
    const std::string name = "_c_" + some_uuid + "-lock-0000000000";
    make_directory();
    put(name, "selector-1");
    EXPECT_EQ(look().kind, lock_kind::mutex);
    world_->set(
        path_,
        R"({"leader":"selector-1","znode":")" + name + R"(","state":"leading","data":"address"})");
    const queue_view seen = look();
    EXPECT_EQ(seen.kind, lock_kind::leader_election);
    ASSERT_TRUE(seen.leader);
    EXPECT_EQ(seen.leader->data, "address");
    EXPECT_EQ(seen.participants.at(0).library, participant_library::latchkey);
}

TEST_P(InspectRecipes, BarrierShowsTheProcessThatSetIt) {
    barrier b(zk_, path_);
    EXPECT_EQ(look().kind, lock_kind::none);
    b.set();
    const queue_view seen = look();
    EXPECT_EQ(seen.kind, lock_kind::barrier);
    ASSERT_EQ(seen.participants.size(), 1U);
    const participant& set = seen.participants.front();
    EXPECT_TRUE(set.holding);
    EXPECT_FALSE(set.ephemeral || set.session_alive) << "it outlives that process";
    EXPECT_EQ(set.path, path_);
    EXPECT_EQ(set.identified.value().pid, ::getpid());
    EXPECT_FALSE(seen.sequence_left);
}

TEST_P(InspectRecipes, DoubleBarrierShowsWhoHasEntered) {
    double_barrier one(zk_, path_, 2);
    double_barrier two(others_, path_, 2);
    auto first = std::async(std::launch::async, [&] { return one.enter(); });
    ASSERT_TRUE(eventually([&] { return look().participants.size() == 1; }));
    queue_view seen = look();
    EXPECT_EQ(outline(seen), "double_barrier, 0 waits") << "for the other one";
    ASSERT_TRUE(two.enter());
    ASSERT_TRUE(first.get());
    seen = look();
    EXPECT_EQ(seen.kind, lock_kind::double_barrier);
    EXPECT_THAT(holders(seen), ElementsAre(0, 1));
    EXPECT_EQ(seen.participants[0].session_id, zk_.session_id());
    EXPECT_EQ(seen.participants[0].library, participant_library::latchkey);
    EXPECT_THAT(seen.foreign, IsEmpty());
    auto leaving = std::async(std::launch::async, [&] { return one.leave(); });
    EXPECT_TRUE(two.leave());
    EXPECT_TRUE(leaving.get());
    EXPECT_EQ(look().kind, lock_kind::double_barrier) << "the directory's data says so";
}

TEST_P(InspectRecipes, GroupShowsItsMembersByName) {
    group g(zk_, path_);
    group other(others_, path_);
    const membership b = g.join("b", {.data = "second"});
    const membership a = other.join("a", {.data = "first"});
    const queue_view seen = look();
    EXPECT_EQ(seen.kind, lock_kind::group);
    EXPECT_EQ(described(seen), (std::vector<std::string>{"a unknown holds", "b unknown holds"}));
    EXPECT_EQ(seen.participants[0].id, "a");
    EXPECT_EQ(seen.participants[0].data, "first");
    EXPECT_EQ(seen.participants[0].session_id, others_.session_id());
}

LATCHKEY_IN_THIS_WORLD(InspectRecipes);

}  // namespace
}  // namespace latchkey::test

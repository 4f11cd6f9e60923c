// lock_options::retain_for of semaphores, ours and Curator's kind: released permits that their
// client keeps.
#include <latchkey/curator_semaphore.hpp>
#include <latchkey/error.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/semaphore.hpp>

#include "queue/participant_record.hpp"
#include "queue/successor_watch.hpp"
#include "stepped_test.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace latchkey::test {
namespace {

template <class Semaphore>
class KeptPermits : public SteppedTest {
protected:
    static constexpr bool is_ours = std::is_same_v<Semaphore, semaphore>;

    client a_ = connected();
    client b_ = connected();
    Semaphore mine_{a_, "/slots", 3, {.retain_for = 30s}};
    Semaphore theirs_{b_, "/slots", 3};

    [[nodiscard]] std::size_t in_use() const {
        return in_queue(is_ours ? "/slots/permits" : "/slots/leases");
    }

    /// As it is when nothing is on its way any more.
    std::string kept(std::uint32_t permits = 1) {
        hold h = held(mine_, permits);
        std::string path = h.path();
        settle();
        h.release();
        settle();
        return path;
    }
};

using kinds = ::testing::Types<semaphore, curator_semaphore>;

struct names {
    template <class Semaphore>
    static std::string GetName(int) {
        return std::is_same_v<Semaphore, semaphore> ? "semaphore" : "curator_semaphore";
    }
};

TYPED_TEST_SUITE(KeptPermits, kinds, names);

TYPED_TEST(KeptPermits, AreHeldAgainWithoutARequest) {
    hold first = this->held(this->mine_, 1U);
    this->settle();
    const auto token = first.token();
    const auto path = first.path();
    first.release();
    this->settle();
    const auto before = this->ensemble_.now();
    const auto again = this->acquire_as(this->mine_, 1U);
    this->expect_granted(again);
    EXPECT_EQ(again->at, before) << "no time passes";
    EXPECT_EQ(again->granted.path(), path);
    EXPECT_GT(again->granted.token(), token);
    EXPECT_EQ(this->ensemble_.count().requests(), 0U);
}

TYPED_TEST(KeptPermits, AreHeldAgainByAsManyCallersAsHeldBefore) {
    hold first = this->held(this->mine_, 1U);
    hold second = this->held(this->mine_, 1U);
    hold third = this->held(this->mine_, 1U);
    this->settle();
    first.release();
    second.release();
    third.release();
    this->settle();
    EXPECT_EQ(this->in_use(), 3U);
    hold one = this->held(this->mine_, 1U);
    hold two = this->held(this->mine_, 1U);
    hold three = this->held(this->mine_, 1U);
    EXPECT_NE(one.path(), two.path());
    EXPECT_NE(two.path(), three.path());
    EXPECT_EQ(this->ensemble_.count().requests(), 0U);
}

TYPED_TEST(KeptPermits, AreHeldAgainByACallForAsManyOnly) {
    const std::string two = this->kept(2);
    hold one = this->held(this->mine_, 1U);
    EXPECT_NE(one.path(), two);
    EXPECT_EQ(this->held(this->mine_, 2U).path(), two);
}

TYPED_TEST(KeptPermits, AreHeldAgainByATryToo) {
    const std::string path = this->kept();
    const auto a = this->acquire_as(this->mine_, 1U, 0s);
    this->expect_granted(a);
    EXPECT_EQ(a->granted.path(), path);
    EXPECT_EQ(this->ensemble_.count().requests(), 0U);
}

TYPED_TEST(KeptPermits, GoToAnotherParticipantThatNeedsThem) {
    this->held(this->theirs_, 1U).release();  // b knows the directories
    this->kept(3);
    const auto before = this->ensemble_.now();
    const auto other = this->acquire_as(this->theirs_, 1U);
    this->expect_granted(other);
    // Its create; the event to the client that keeps the permits, and its list; its delete, and
    // the event of that; the other's look and its transaction.
    EXPECT_LE(other->at - before, 5 * this->round_trip + 1ms);
    EXPECT_EQ(this->in_use(), 1U);
}

TYPED_TEST(KeptPermits, StayWhenAnotherParticipantFindsEnough) {
    this->held(this->theirs_, 1U).release();
    const std::string path = this->kept();
    hold other = this->held(this->theirs_, 1U);
    this->settle();
    EXPECT_EQ(this->in_use(), 2U);
    EXPECT_EQ(this->held(this->mine_, 1U).path(), path);
    EXPECT_EQ(this->ensemble_.count().requests(), 0U);
}

TYPED_TEST(KeptPermits, StayWhenTheEmptyQueueIsRemovedAndGoToTheNextParticipant) {
    const std::string path = this->kept();
    this->ensemble_.remove(this->is_ours ? "/slots/queue" : "/slots/locks");
    this->settle();
    hold again = this->held(this->mine_, 1U);
    EXPECT_EQ(again.path(), path);
    again.release();
    const auto before = this->ensemble_.now();
    const auto other = this->acquire_as(this->theirs_, 3U);
    this->expect_granted(other);
    EXPECT_LE(other->at - before, successor_watch::longest_passage + 12 * this->round_trip + 1ms);
}

TYPED_TEST(KeptPermits, GoToAnotherParticipantThatNeedsMoreThanThereAre) {
    this->held(this->theirs_, 1U).release();
    this->kept();
    const auto before = this->ensemble_.now();
    const auto other = this->acquire_as(this->theirs_, 3U);
    this->expect_granted(other);
    EXPECT_LE(other->at - before, successor_watch::longest_passage + 6 * this->round_trip + 1ms);
}

TYPED_TEST(KeptPermits, AreNoneWhileAnotherParticipantWaits) {
    hold three = this->held(this->mine_, 3U);
    this->settle();
    const auto other = this->acquire_as(this->theirs_, 1U);
    this->ensemble_.run_for(1s);
    EXPECT_FALSE(other->done);
    three.release();
    this->expect_granted(other, 1s);
    EXPECT_EQ(this->in_use(), 1U);
}

TYPED_TEST(KeptPermits, AreGivenUpAfterTheirTime) {
    this->kept();
    this->ensemble_.run_for(29s);
    EXPECT_EQ(this->in_use(), 1U);
    this->ensemble_.run_for(1s);
    EXPECT_EQ(this->in_use(), 0U);
}

TYPED_TEST(KeptPermits, AreGivenUpWithTheConnection) {
    this->kept();
    this->ensemble_.cut(this->a_.session_id());
    this->ensemble_.run_for(2s);
    EXPECT_EQ(this->in_use(), 0U);
    EXPECT_TRUE(this->held(this->mine_, 1U).valid());
}

TYPED_TEST(KeptPermits, AreGivenUpByARequestForThem) {
    const std::string path = this->kept();
    this->ensemble_.set(path, "__REVOKE__");
    this->ensemble_.run_for(100ms);
    EXPECT_EQ(this->in_use(), 0U);
}

TYPED_TEST(KeptPermits, AreNoneAfterTheirZnodeWasDeleted) {
    const std::string path = this->kept();
    this->ensemble_.remove(path);
    this->ensemble_.run_for(100ms);
    EXPECT_NE(this->held(this->mine_, 1U).path(), path);
}

TYPED_TEST(KeptPermits, AreOneOfAtMostSoManyOfAClient) {
    client one = this->connected({.session_timeout = 12s, .max_retained = 1});
    TypeParam slots(one, "/slots", 3, {.retain_for = 30s});
    hold first = this->held(slots, 1U);
    hold second = this->held(slots, 1U);
    this->settle();
    first.release();
    second.release();
    this->settle();
    EXPECT_EQ(this->in_use(), 1U);
}

TYPED_TEST(KeptPermits, AreGivenUpWithTheirObject) {
    auto slots =
        std::make_unique<TypeParam>(this->a_, "/slots", 3, lock_options{.retain_for = 30s});
    hold first = this->held(*slots, 1U);
    hold second = this->held(*slots, 1U);
    this->settle();
    first.release();
    this->settle();
    slots.reset();
    this->settle();
    EXPECT_EQ(this->in_use(), 1U) << "the one that is held";
    EXPECT_TRUE(second.valid());
    second.release();
    this->settle();
    EXPECT_EQ(this->in_use(), 0U);
}

TYPED_TEST(KeptPermits, AreGivenUpWithAnObjectThatEndedBeforeTheGrant) {
    auto slots =
        std::make_unique<TypeParam>(this->a_, "/slots", 3, lock_options{.retain_for = 30s});
    const auto a = this->acquire_as(*slots, 1U);
    slots.reset();
    this->expect_granted(a);
    this->settle();
    a->granted.release();
    this->settle();
    EXPECT_EQ(this->in_use(), 0U);
}

TYPED_TEST(KeptPermits, AreThoseOfOtherObjectsIfTheyShare) {
    const lock_options together{.retain_for = 30s, .share_in_client = true};
    TypeParam one(this->a_, "/slots", 3, together);
    TypeParam other(this->a_, "/slots", 3, together);
    hold h = this->held(one, 1U);
    const std::string path = h.path();
    this->settle();
    h.release();
    this->settle();
    EXPECT_EQ(this->held(other, 1U).path(), path);
    EXPECT_NE(this->held(this->mine_, 1U).path(), path);
}

TYPED_TEST(KeptPermits, AreMarkedAfterASecond) {
    const std::string path = this->kept();
    const auto is_marked = [&] {
        const auto who = read_record(this->ensemble_.get(path)->data);
        return who && who->kept_since;
    };
    this->ensemble_.run_for(2s);
    EXPECT_TRUE(is_marked());
    const hold h = this->held(this->mine_, 1U);
    this->settle();
    EXPECT_EQ(h.path(), path);
    EXPECT_FALSE(is_marked());
}

TYPED_TEST(KeptPermits, CostALookAfterTheGrantAndAtEachChangeOfTheQueue) {
    this->held(this->theirs_, 1U).release();
    hold h = this->held(this->mine_, 1U);
    this->settle();
    const auto session = this->a_.session_id();
    hold other = this->held(this->theirs_, 1U);  // joins the queue, and leaves it
    this->ensemble_.run_for(100ms);
    const auto asked = this->ensemble_.count(session);
    EXPECT_LE(asked.children, 4U);
    EXPECT_GE(asked.children, 2U);
    EXPECT_EQ(asked.gets, this->is_ours ? asked.children / 2 : 0U);
    this->settle();
    h.release();
    other.release();
    this->ensemble_.run_for(100ms);
    EXPECT_EQ(this->ensemble_.count(session).requests(), 0U)
        << "permits change, the queue does not";
}

TYPED_TEST(KeptPermits, LeaveNoMemoryBehind) {
    client c = this->connected();
    auto slots = std::make_unique<TypeParam>(c, "/slots", 3, lock_options{.retain_for = 30s});
    this->held(*slots, 1U).release();
    this->settle();
    const std::weak_ptr<client_core> core = client_core::of(c);
    slots.reset();
    c = this->connected();
    this->ensemble_.run_for(5s);
    EXPECT_TRUE(core.expired());
}

TYPED_TEST(KeptPermits, AreNotPassedOnWhileAnotherParticipantWaits) {
    for (const lock_options& o :
         {lock_options{.local_passes = 1}, lock_options{.local_time = 1s, .retain_for = 1s}}) {
        try {
            const TypeParam slots(this->a_, "/slots", 3, o);
            ADD_FAILURE() << "local_passes is accepted";
        } catch (const error& e) {
            EXPECT_EQ(e.code(), errc::invalid_argument);
        }
    }
}

using KeptPermitsOfOurs = KeptPermits<semaphore>;

TEST_F(KeptPermitsOfOurs, AreGivenUpWhenTheSemaphoreIsResized) {
    kept();
    ensemble_.set("/slots", "2");
    settle();
    EXPECT_EQ(in_use(), 0U) << "so that no earlier hold goes on beyond the new limit";
    const std::string path = kept();
    EXPECT_EQ(held(mine_, 1U).path(), path);
}

}  // namespace
}  // namespace latchkey::test

// What becomes of permits when requests or answers are lost on the way: of a semaphore's, one znode
// for all of them, and of a curator_semaphore's, one for each.
#include <latchkey/curator_semaphore.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/semaphore.hpp>

#include "result_codes.hpp"
#include "stepped_test.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

namespace latchkey::test {
namespace {

using when = ensemble::when;
using op = ensemble::request_kind;

struct ours {
    using type = semaphore;
    static constexpr const char* name = "semaphore";
    static constexpr const char* permits = "/slots/permits";
    static constexpr const char* queue = "/slots/queue";
    static constexpr std::size_t znodes_of_three = 1;
};

struct curators {
    using type = curator_semaphore;
    static constexpr const char* name = "curator_semaphore";
    static constexpr const char* permits = "/slots/leases";
    static constexpr const char* queue = "/slots/locks";
    static constexpr std::size_t znodes_of_three = 3;
};

template <class Kind>
class LostPermits : public SteppedTest {
protected:
    std::shared_ptr<attempt> take(std::stop_token stop = {}) {
        return take(mine_, std::move(stop));
    }

    std::shared_ptr<attempt> take(typename Kind::type& of, std::stop_token stop = {}) {
        return acquire_as(of, 3U, std::chrono::nanoseconds::max(), {.stop = std::move(stop)});
    }

    hold taken() { return held(mine_, 3U); }

    void expect_three_permits_and_nobody_in_the_queue() {
        EXPECT_EQ(ensemble_.children(Kind::permits).size(), Kind::znodes_of_three);
        EXPECT_TRUE(
            ensemble_.run_until([&] { return ensemble_.children(Kind::queue).empty(); }, 30s));
    }

    bool all_gone() {
        return ensemble_.run_until(
            [&] {
                return ensemble_.children(Kind::permits).empty() &&
                       ensemble_.children(Kind::queue).empty();
            },
            30s);
    }

    /// What is done is not answered: asked again, it is found.
    std::shared_ptr<attempt> take_unanswered() {
        taken().release();
        EXPECT_TRUE(all_gone());
        ensemble_.fail_next(op::multi, when::after, client_.session_id());
        const auto a = take();
        EXPECT_TRUE(
            ensemble_.run_until([&] { return !ensemble_.children(Kind::permits).empty(); }, 30s));
        return a;
    }

    void remove_the_last_permit() {
        const auto names = ensemble_.children(Kind::permits);
        ASSERT_EQ(names.size(), Kind::znodes_of_three);
        ensemble_.remove(std::string(Kind::permits) + '/' + names.back());
    }

    /// As an operator's `deleteall` does.
    void remove_tree(const std::string& path) {
        for (const std::string& name : ensemble_.children(path)) {
            remove_tree(path + '/' + name);
        }
        ensemble_.remove(path);
    }

    client client_ = connected();
    typename Kind::type mine_{client_, "/slots", 3};
};

struct name_of_kind {
    template <class Kind>
    static std::string GetName(int /*index*/) {
        return Kind::name;
    }
};

using kinds = ::testing::Types<ours, curators>;
TYPED_TEST_SUITE(LostPermits, kinds, name_of_kind);

TYPED_TEST(LostPermits, WhoseDirectoryMayNotBeMadeAreRefused) {
    this->taken().release();
    ASSERT_TRUE(this->all_gone());
    this->ensemble_.remove(TypeParam::permits);
    const acl nobody_creates{
        {"world", "anyone", permission::read | permission::write | permission::remove}};
    this->ensemble_.set_acl("/slots", nobody_creates);
    const auto refused = this->take();
    ASSERT_TRUE(this->ensemble_.run_until([&] { return refused->done; }, 10s));
    EXPECT_EQ(refused->ec, errc::not_authorized);
    EXPECT_TRUE(this->ensemble_.children(TypeParam::queue).empty());
    this->ensemble_.set_acl("/slots", {{"world", "anyone", permission::all}});
    EXPECT_TRUE(this->taken().valid());
}

TYPED_TEST(LostPermits, AreTakenOnceHoweverOftenItIsAsked) {
    for (const when w : {when::before, when::after}) {
        for (const int times : {1, 3}) {
            this->taken().release();
            ASSERT_TRUE(this->all_gone());
            this->ensemble_.fail_next(op::multi, w, this->client_.session_id(), times);
            hold h = this->taken();
            EXPECT_TRUE(h.valid());
            this->expect_three_permits_and_nobody_in_the_queue();
            h.release();
            EXPECT_TRUE(this->all_gone());
        }
    }
}

TYPED_TEST(LostPermits, AreCountedAfterThePlaceInTheQueueWasCreatedAtLast) {
    // The first create is refused, and what was asked behind it tells of a time before the place.
    for (const int times : {1, 4}) {
        this->taken().release();
        ASSERT_TRUE(this->all_gone());
        client other = this->connected();
        typename TypeParam::type theirs(other, "/slots", 3);
        this->ensemble_.refuse_next(op::create, throttled, this->client_.session_id(), times);
        const auto a = this->take();
        this->ensemble_.run_for(this->one_way);
        const auto before = this->take(theirs);
        ASSERT_TRUE(this->ensemble_.run_until([&] { return before->done; }, 60s));
        this->ensemble_.run_for(10s);
        EXPECT_FALSE(a->done) << "six of three permits";
        before->granted.release();
        ASSERT_TRUE(this->ensemble_.run_until([&] { return a->done; }, 60s));
        EXPECT_TRUE(a->granted.valid());
        a->granted.release();
    }
}

TYPED_TEST(LostPermits, AreCountedAfterTheListThatTellsThatNobodyIsAheadAnyMore) {
    // Of what is asked together the list is not answered, and what is free is, with one ahead.
    constexpr int unknown = -2;
    this->taken().release();
    ASSERT_TRUE(this->all_gone());
    client other = this->connected();
    typename TypeParam::type theirs(other, "/slots", 3);
    const auto before = this->take(theirs);
    this->ensemble_.run_for(this->one_way);
    this->ensemble_.refuse_next(op::children, unknown, this->client_.session_id());
    const auto a = this->take();
    ASSERT_TRUE(this->ensemble_.run_until([&] { return before->done; }, 60s));
    this->ensemble_.run_for(10s);
    EXPECT_FALSE(a->done) << "six of three permits";
    before->granted.release();
    ASSERT_TRUE(this->ensemble_.run_until([&] { return a->done; }, 60s));
    EXPECT_TRUE(a->granted.valid());
}

TYPED_TEST(LostPermits, AreTakenWhenTheListsAreLost) {
    for (const when w : {when::before, when::after}) {
        this->taken().release();
        ASSERT_TRUE(this->all_gone());
        this->ensemble_.fail_next(op::children, w, this->client_.session_id(), 2);
        const hold h = this->taken();
        this->expect_three_permits_and_nobody_in_the_queue();
    }
}

TYPED_TEST(LostPermits, AreGivenBackWhateverBecomesOfTheDeletes) {
    for (const when w : {when::before, when::after}) {
        hold h = this->taken();
        this->settle();
        this->ensemble_.fail_next(op::multi, w, this->client_.session_id());
        this->ensemble_.fail_next(op::remove, w, this->client_.session_id());
        h.release();
        EXPECT_TRUE(this->all_gone());
    }
}

TYPED_TEST(LostPermits, OfOneWhoGivesUpWhileTheyAreTakenGo) {
    for (const when w : {when::before, when::after}) {
        this->taken().release();
        ASSERT_TRUE(this->all_gone());
        this->ensemble_.fail_next(op::multi, w, this->client_.session_id(), 3);
        std::stop_source stop;
        const auto a = this->take(stop.get_token());
        this->ensemble_.run_for(3 * this->one_way);  // the transaction is on its way
        stop.request_stop();
        ASSERT_TRUE(this->ensemble_.run_until([&] { return a->done; }, 30s));
        EXPECT_TRUE(is_empty(a->granted));
        EXPECT_FALSE(a->ec);
        EXPECT_TRUE(this->all_gone());
    }
}

TYPED_TEST(LostPermits, AreFoundWhenWhatIsAskedAgainIsRefused) {
    constexpr int no_auth = -102;
    const auto a = this->take_unanswered();
    this->ensemble_.refuse_next(op::multi, no_auth, this->client_.session_id());
    ASSERT_TRUE(this->ensemble_.run_until([&] { return a->done; }, 30s));
    EXPECT_TRUE(a->granted.valid()) << a->ec.message();
    this->expect_three_permits_and_nobody_in_the_queue();
    a->granted.release();
    EXPECT_TRUE(this->all_gone());
}

TYPED_TEST(LostPermits, OfWhichOneIsDeletedBeforeTheyAreFoundAreTakenAnew) {
    const auto a = this->take_unanswered();
    this->remove_the_last_permit();
    ASSERT_TRUE(this->ensemble_.run_until([&] { return a->done; }, 60s));
    EXPECT_TRUE(a->granted.valid()) << a->ec.message();
    this->expect_three_permits_and_nobody_in_the_queue();
}

TYPED_TEST(LostPermits, OfWhichOneIsDeletedBeforeTheyAreBelievedAreTakenAnew) {
    this->taken().release();
    ASSERT_TRUE(this->all_gone());
    this->ensemble_.run_for(12s);  // the connect is old by then
    const auto a = this->take();
    this->ensemble_.run_for(5 * this->one_way / 2);  // the transaction is on its way
    this->ensemble_.pause(this->client_.session_id());
    this->ensemble_.run_for(7s);  // more than the first answers prove of a session of 12 s
    this->remove_the_last_permit();
    this->ensemble_.resume(this->client_.session_id());
    ASSERT_TRUE(this->ensemble_.run_until([&] { return a->done; }, 60s));
    EXPECT_TRUE(a->granted.valid()) << a->ec.message();
    this->expect_three_permits_and_nobody_in_the_queue();
}

/// The answer is too old to be believed. Then others prove that the session is alive, before anyone
/// could look whether the permits are still there.
TYPED_TEST(LostPermits, OfWhichOneIsDeletedBeforeAnyoneCouldLookAreTakenAnew) {
    const auto session = this->client_.session_id();
    mutex other(this->client_, "/other");
    for (const bool breaks : {false, true}) {
        SCOPED_TRACE(breaks ? "the connection breaks" : "on one connection");
        this->taken().release();
        ASSERT_TRUE(this->all_gone());
        this->ensemble_.run_for(12s);  // the connect is old by then
        const auto a = this->take();
        ASSERT_TRUE(this->ensemble_.run_until(
            [&] { return !this->ensemble_.children(TypeParam::permits).empty(); }, 30s));
        this->ensemble_.pause(session);
        this->remove_the_last_permit();
        this->ensemble_.run_for(7s);
        this->ensemble_.refuse_next(op::multi, throttled, session, 1000);
        this->ensemble_.resume(session);
        this->held(other).release();
        EXPECT_FALSE(a->done);
        if (breaks) {
            this->ensemble_.cut(session);
        }
        this->ensemble_.run_for(100ms);
        this->ensemble_.refuse_next(op::multi, throttled, session, 0);
        ASSERT_TRUE(this->ensemble_.run_until([&] { return a->done; }, 60s));
        EXPECT_TRUE(a->granted.valid()) << a->ec.message();
        this->expect_three_permits_and_nobody_in_the_queue();
    }
}

TYPED_TEST(LostPermits, OfASessionThatEndsWhileTheyAreTakenAreTakenAnew) {
    this->taken().release();
    this->settle();
    this->ensemble_.fail_next(op::multi, when::after, this->client_.session_id());
    const auto a = this->take();
    this->ensemble_.run_for(3 * this->one_way);
    this->ensemble_.expire(this->client_.session_id());
    ASSERT_TRUE(this->ensemble_.run_until([&] { return a->done; }, 60s));
    EXPECT_TRUE(a->granted.valid());
    this->expect_three_permits_and_nobody_in_the_queue();
}

TYPED_TEST(LostPermits, AreTakenFromANewPlaceWhenDirectoriesGoMeanwhile) {
    for (const std::string directory : {TypeParam::queue, TypeParam::permits, "/slots"}) {
        for (const int lost : {0, 1}) {
            SCOPED_TRACE(directory + ", " + std::to_string(lost) + " requests lost");
            this->taken().release();
            ASSERT_TRUE(this->all_gone());
            this->ensemble_.fail_next(op::multi, when::before, this->client_.session_id(), lost);
            const auto a = this->take();
            this->ensemble_.run_for(5 * this->one_way / 2);  // the transaction is on its way
            this->remove_tree(directory);
            ASSERT_TRUE(this->ensemble_.run_until([&] { return a->done; }, 60s));
            EXPECT_TRUE(a->granted.valid()) << a->ec.message();
            this->expect_three_permits_and_nobody_in_the_queue();
        }
    }
}

class LostSemaphore : public SteppedTest {};

TEST_F(LostSemaphore, IsToldToBeMissingAfterOneRoundTrip) {
    client c = connected();
    semaphore s(c, "/app/none");
    settle();
    const auto before = ensemble_.now();
    const auto a = acquire_as(s, 1U);
    ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 60s));
    EXPECT_EQ(a->ec, errc::no_such_znode) << a->ec.message();
    EXPECT_EQ(a->at - before, round_trip);
}

TEST_F(LostSemaphore, IsToldToBeMissingThoughTheFirstAnswersWereLost) {
    client c = connected();
    for (const when w : {when::before, when::after}) {
        semaphore s(c, "/none");
        ensemble_.fail_next(op::create, w, c.session_id());
        auto a = std::make_shared<attempt>();
        s.async_acquire(1, std::chrono::nanoseconds::max(), {}, [a](std::error_code ec, hold) {
            a->done = true;
            a->ec = ec;
        });
        ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 60s));
        EXPECT_EQ(a->ec, errc::no_such_znode) << a->ec.message();
    }
}

}  // namespace
}  // namespace latchkey::test

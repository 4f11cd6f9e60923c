// What the checker knows of permits and limits: histories that are fine, and each with one thing
// wrong. The mutants of mutants_permits.txt hold the other rules.
#include "history.hpp"
#include "story.hpp"

#include <string>

#include <gtest/gtest.h>

namespace latchkey::history {
namespace {

/// A semaphore of three: two permits, one permit, and two when the first are back.
struct permits : story {
    turn& pair = wanting(1, 10, 1, 2);
    turn& single = wanting(2, 12, 1.2, 1);
    turn& next = wanting(3, 14, 1.3, 2);

    permits() {
        told().laid_out = layout::semaphore;
        wrote(lock, 9, 0.5, 3);
        queued(pair, 10, 1);
        given(pair, 11, 1.1, 4);
        queued(single, 12, 1.2);
        given(single, 13, 1.3, 4);
        queued(next, 14, 1.3);
        saw(pair, 2, true, 4);
        ended(pair, 2);
        gone(pair, 15, 2.001);
        given(next, 16, 2.1, 5);
        ended(single, 2.5);
        gone(single, 17, 2.501);
        ended(next, 3);
        gone(next, 18, 3.001);
    }

    turn& wanting(int worker, std::int64_t attempt, double at, std::uint32_t count) {
        return asked(worker, attempt, at, {.locks = {lock}, .permits = count});
    }

    void queued(turn& t, std::int64_t zxid, double at) { created(t, zxid, at, waiting(t)); }

    /// The servers give it its permits in the transaction `zxid`, 10 ms before its acquire returns.
    void given(turn& t, std::int64_t zxid, double at, double valid_until) {
        created(t,
                zxid,
                at - 0.01,
                std::string(lock) + "/permits/_c_" + std::to_string(t.attempt) + "-permit-" +
                    std::to_string(t.asked.permits));
        gone(t, zxid, at, waiting(t));
        granted(t, at, valid_until);
    }

    static std::string waiting(const turn& t) { return znode(t.attempt, "/queue/_c_x-permit-"); }
};

TEST(HistoryPermits, FindNothingWrongWithAsManyAsThereAre) {
    permits s;
    const verdict v = s.judged();
    EXPECT_EQ(broken(v), "") << v.violations.front().text;
    EXPECT_EQ(v.grants, 3U);
    ASSERT_EQ(v.hand_over.count(), 1U) << "from the release of the first";
    EXPECT_EQ(v.hand_over.quantile(1), story::time(2.1) - story::time(2.001));
}

TEST(HistoryPermits, RefuseBeliefInPermitsThatOthersHaveGot) {
    permits s;
    story::saw(s.pair, 2.2, true, 4);
    EXPECT_EQ(broken(s.judged()), "limit, overlap");
}

TEST(HistoryPermits, FindTheFirstThatWasNotToldOfFreePermits) {
    const auto granted_at = [](double at) {
        permits s;
        turn& late = s.wanting(4, 20, 4, 3);
        s.queued(late, 20, 4);
        s.given(late, 21, at, at + 2);
        s.ended(late, at + 1);
        s.gone(late, 22, at + 1.001);
        return broken(s.judged());
    };
    EXPECT_EQ(granted_at(7.9), "");
    EXPECT_EQ(granted_at(8.1), "lost wake-up");
}

TEST(HistoryPermits, DoNotCountTheTimeInWhichTooFewWereFree) {
    permits s;
    turn& holder = s.wanting(4, 20, 4, 2);
    turn& waiter = s.wanting(5, 22, 4.5, 2);
    s.queued(holder, 20, 4);
    s.given(holder, 21, 4.1, 20);
    s.queued(waiter, 22, 4.5);
    s.ended(holder, 15);
    s.gone(holder, 23, 15.001);
    s.given(waiter, 24, 15.1, 20);
    s.ended(waiter, 16);
    s.gone(waiter, 25, 16.001);
    EXPECT_EQ(broken(s.judged()), "");
}

TEST(HistoryPermits, CountCuratorsLeasesOneByOneAndWantThemAtOnce) {
    const auto second_lease_at = [](std::int64_t zxid) {
        story s;
        s.told().laid_out = layout::curator_semaphore;
        s.told().limit = 2;
        turn& t = s.asked(1, 10, 1, {.locks = {story::lock}, .permits = 2});
        const std::string guard = std::string(story::lock) + "/locks/_c_x-lock-0000000001";
        s.created(t, 10, 1, guard);
        s.created(t, 11, 1.1, std::string(story::lock) + "/leases/_c_a-lease-0000000001");
        s.created(t, zxid, 1.1, std::string(story::lock) + "/leases/_c_a-lease-0000000002");
        s.gone(t, zxid, 1.1, guard);
        s.granted(t, 1.2, 4);
        s.ended(t, 2);
        s.gone(t, 13, 2.001);
        s.gone(t, 13, 2.001, t.znodes[1]);
        return broken(s.judged());
    };
    EXPECT_EQ(second_lease_at(11), "");
    EXPECT_EQ(second_lease_at(12), "torn");
}

}  // namespace
}  // namespace latchkey::history

#include <latchkey/curator_semaphore.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/recursive_mutex.hpp>
#include <latchkey/semaphore.hpp>

#include "stepped_test.hpp"

#include <cstdint>
#include <memory>

namespace latchkey::test {
namespace {

/// What semaphore.hpp and curator_semaphore.hpp say of requests and round trips, counted by the
/// servers; and what it costs to be asked for a lock back.
class PermitCost : public SteppedTest {
protected:
    /// Uncontended, on a path that is known.
    template <class Semaphore>
    void expect_uncontended(Semaphore& s, std::uint32_t permits, std::uint64_t requests) {
        held(s, permits).release();
        settle();
        const auto before = ensemble_.now();
        const auto a = acquire_as(s, permits);
        ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 1s));
        EXPECT_EQ(a->at - before, 2 * round_trip);
        EXPECT_EQ(ensemble_.count().requests(), requests);
        settle();
        a->granted.release();
        ensemble_.run_for(100ms);
    }
};

TEST_F(PermitCost, UncontendedAcquireIsTwoRoundTripsAndAReleaseOneDelete) {
    client c = connected();
    semaphore s(c, "/slots", 8);
    expect_uncontended(s, 5, 5);
    EXPECT_EQ(ensemble_.count().removes, 1U);
    EXPECT_EQ(ensemble_.count().requests(), 1U);
}

TEST_F(PermitCost, CuratorsIsTheSameButForTheLimit) {
    client c = connected();
    curator_semaphore s(c, "/slots", 8);
    expect_uncontended(s, 5, 4);
    EXPECT_EQ(ensemble_.count().multis, 1U);
    EXPECT_EQ(ensemble_.count().requests(), 1U);
}

TEST_F(PermitCost, WaitingForCuratorsPermitsCostsNothingAndAGrantTwoRequests) {
    client a = connected();
    client b = connected();
    curator_semaphore first(a, "/slots", 2);
    curator_semaphore second(b, "/slots", 2);
    hold all = held(first, 2U);
    const auto next = acquire_as(second, 1U);
    const auto last = acquire_as(first, 1U);
    ensemble_.run_for(500ms);
    settle();
    ensemble_.run_for(1s);
    EXPECT_EQ(ensemble_.count().children, 0U);
    EXPECT_EQ(ensemble_.count().creates, 0U);
    all.release();
    ASSERT_TRUE(ensemble_.run_until([&] { return next->done && last->done; }, 5s));
    EXPECT_TRUE(next->granted && last->granted);
    EXPECT_EQ(ensemble_.count().requests(), 5U) << "a release, and a list and a multi for each";
}

TEST_F(PermitCost, WaitingCostsNothingAndAGrantTwoRoundTrips) {
    client a = connected();
    client b = connected();
    client c = connected();
    semaphore first(a, "/slots", 2);
    semaphore second(b, "/slots", 2);
    semaphore third(c, "/slots", 2);
    hold all = held(first, 2U);
    const auto next = acquire_as(second, 2U);
    ensemble_.run_for(100ms);
    const auto last = acquire_as(third, 1U);
    ensemble_.run_for(500ms);
    settle();
    ensemble_.run_for(1s);
    EXPECT_EQ(ensemble_.count().requests(), 0U);
    ensemble_.reset_counters();
    const auto before = ensemble_.now();
    all.release();
    ASSERT_TRUE(ensemble_.run_until([&] { return next->done; }, 5s));
    EXPECT_EQ(next->at - before, 2 * one_way + 2 * round_trip)
        << "the delete there, its event back; a look, and the transaction";
    EXPECT_EQ(ensemble_.count(c.session_id()).requests(), 0U) << "until the head has left";
    ensemble_.run_for(100ms);
    EXPECT_FALSE(last->done);
}

/// What those cost that block, and answer at once.
TEST(PermitCostOfACall, IsWhatTheHeadersSay) {
    ensemble servers;
    client c = servers.connect();
    semaphore s(c, "/slots", 3);
    curator_semaphore curators(c, "/curators", 3);
    const hold one = s.acquire();
    const hold other = curators.acquire();
    servers.run_for(100ms);  // the watches of longer holds
    const auto requests_of = [&servers](const auto& call) {
        servers.reset_counters();
        call();
        return servers.count().requests();
    };
    EXPECT_EQ(requests_of([&] { EXPECT_EQ(s.available(), 2U); }), 2U);
    EXPECT_EQ(requests_of([&] { EXPECT_EQ(s.capacity(), 3U); }), 1U);
    EXPECT_EQ(requests_of([&] { s.resize(4); }), 2U);
    EXPECT_EQ(requests_of([&] { EXPECT_EQ(s.participants().size(), 1U); }), 3U + 1U);
    EXPECT_EQ(requests_of([&] { EXPECT_EQ(curators.available(), 2U); }), 1U);
    EXPECT_EQ(requests_of([&] { EXPECT_EQ(curators.participants().size(), 1U); }), 2U + 1U);

    recursive_mutex r(c, "/lock");
    r.lock();
    servers.run_for(100ms);
    EXPECT_EQ(requests_of([&] { r.lock(); }), 0U);
    EXPECT_EQ(requests_of([&] { r.unlock(); }), 0U);
    r.unlock();
}

TEST_F(PermitCost, BeingAskedForALockIsOneReadForEachThatWatches) {
    client a = connected();
    client b = connected();
    client c = connected();
    mutex first(a, "/lock");
    mutex second(b, "/lock");
    mutex elsewhere(c, "/elsewhere");
    const hold h = held(first);
    const auto waits = acquire(second);
    hold other = held(elsewhere);
    ensemble_.run_for(500ms);
    settle();
    bool asked = false;
    other.async_transact({operation::set(h.path(), "__REVOKE__")},
                         [&](std::error_code ec, const auto&) { asked = !ec; });
    ensemble_.run_for(100ms);
    EXPECT_TRUE(asked);
    EXPECT_TRUE(h.revocation_requested().stop_requested());
    EXPECT_EQ(ensemble_.count().gets, 2U) << "the holder, and the one behind";
    EXPECT_EQ(ensemble_.count().children, 0U);
    EXPECT_FALSE(waits->done);
}

}  // namespace
}  // namespace latchkey::test

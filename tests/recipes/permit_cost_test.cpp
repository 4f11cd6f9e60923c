#include <latchkey/curator_semaphore.hpp>
#include <latchkey/recursive_mutex.hpp>
#include <latchkey/semaphore.hpp>

#include "cost_test.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace latchkey::test {
namespace {

/// What semaphore.hpp and curator_semaphore.hpp say of requests and round trips; and what it costs
/// to be asked for a lock back.
class PermitCost : public CostTest {
protected:
    /// Uncontended, on a path that is known.
    template <class Semaphore>
    void expect_uncontended(const char* path, std::uint64_t requests, const std::string& release) {
        Semaphore s(a_, path, 8);
        held(s, 5U).release();
        settle();
        const auto a = finished(acquire_as(s, 5U));
        EXPECT_EQ(took(a), 2 * round_trip);
        EXPECT_EQ(ensemble_.count().requests(), requests);
        settle();
        a->granted.release();
        ensemble_.run_for(100ms);
        EXPECT_EQ(ensemble_.count().requests(), 1U);
        EXPECT_EQ(spent().find(release), 0U) << spent();
    }

    client a_ = connected();
    client b_ = connected();
    client c_ = connected();
};

TEST_F(PermitCost, UncontendedAcquireIsTwoRoundTripsAndAReleaseOneRequest) {
    expect_uncontended<semaphore>("/slots", 5, "delete 1");
    expect_uncontended<curator_semaphore>("/leases", 4, "multi 1");  // it reads no limit
}

TEST_F(PermitCost, WaitingForCuratorsPermitsCostsNothingAndAGrantTwoRequests) {
    curator_semaphore first(a_, "/slots", 2);
    curator_semaphore second(b_, "/slots", 2);
    hold all = held(first, 2U);
    const auto next = acquire_as(second, 1U);
    const auto last = acquire_as(first, 1U);
    ensemble_.run_for(500ms);
    settle();
    ensemble_.run_for(1s);
    EXPECT_EQ(ensemble_.count().children, 0U);
    EXPECT_EQ(ensemble_.count().creates, 0U);
    all.release();
    EXPECT_TRUE(finished(next)->granted && finished(last)->granted);
    EXPECT_EQ(ensemble_.count().requests(), 5U) << "a release, and a list and a multi for each";
}

TEST_F(PermitCost, WaitingCostsNothingAndAGrantTwoRoundTrips) {
    semaphore first(a_, "/slots", 2);
    semaphore second(b_, "/slots", 2);
    semaphore third(c_, "/slots", 2);
    hold all = held(first, 2U);
    const auto next = acquire_as(second, 2U);
    ensemble_.run_for(100ms);
    const auto last = acquire_as(third, 1U);
    ensemble_.run_for(500ms);
    settle();
    ensemble_.run_for(1s);
    EXPECT_EQ(ensemble_.count().requests(), 0U);
    begin_counting();
    all.release();
    EXPECT_EQ(took(finished(next)), 2 * one_way + 2 * round_trip)
        << "the delete there, its event back; a look, and the transaction";
    EXPECT_EQ(count(c_).requests(), 0U) << "until the head has left";
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
    mutex first(a_, "/lock");
    mutex second(b_, "/lock");
    const hold h = held(first);
    const auto waits = acquire(second);
    ensemble_.run_for(500ms);
    settle();
    ensemble_.set(h.path(), "__REVOKE__");
    ensemble_.run_for(100ms);
    EXPECT_TRUE(h.revocation_requested().stop_requested());
    EXPECT_EQ(ensemble_.count().gets, 2U) << "the holder, and the one behind";
    EXPECT_EQ(ensemble_.count().children, 0U);
    EXPECT_FALSE(waits->done);
}

}  // namespace
}  // namespace latchkey::test

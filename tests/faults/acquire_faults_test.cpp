#include "lock_fixture.hpp"

#include <future>
#include <map>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

using when = ensemble::when;

/// What can go wrong from the call to the grant, beyond the unknown outcomes of single requests.
/// Calls with a limit that no server answers: unreachable_test.cpp.
using AcquireFaults = LockFaults;
using RefusedCreate = LockFaults;
using NoServer = LockSteps;

// ---- no server ----

// The threaded ensemble goes on while a call is blocked; and there is no end to this one.
TEST(NoServerAtAll, AsynchronousAcquireReturnsBeforeItsResult) {
    ensemble servers;
    for (int i = 0; i < 3; ++i) {
        servers.stop_server(i);
    }
    client c = servers.connect();
    mutex m(c, "/lock");
    std::promise<std::error_code> result;
    m.async_acquire({}, [&](std::error_code ec, const hold&) { result.set_value(ec); });
    auto ended = result.get_future();
    EXPECT_EQ(ended.wait_for(0s), std::future_status::timeout);
    c.close();
    EXPECT_EQ(ended.get(), errc::closed);
}

TEST_F(NoServer, AcquireWaitsForOne) {
    all_servers(&ensemble::stop_server);
    client c = ensemble_.connect({.session_timeout = timeout});
    mutex m(c, "/lock");
    const auto w = acquire(m);
    ensemble_.run_for(60s);
    EXPECT_FALSE(w->done);
    all_servers(&ensemble::start_server);
    expect_granted(w);
}

TEST_F(AcquireFaults, OfASilentNetworkEndAtTheDeadlineAllTheSame) {
    warm_up(mine_);
    ensemble_.black_hole(a_.session_id());
    const auto begun = ensemble_.now();
    const auto w = acquire(mine_, 2s);
    EXPECT_EQ(error_of(w), errc::unreachable);
    EXPECT_TRUE(is_empty(w->granted));
    EXPECT_LE(w->at - begun, 3s + 10ms) << "the limit, and a second for the proof";
    ensemble_.resume(a_.session_id());
    ensemble_.run_for(20s);
    EXPECT_EQ(in_queue(), 0U);
}

// ---- the directory ----

TEST_F(AcquireFaults, OfADirectoryThatIsRemovedAgainAndAgainAreRepeatedUntilItHolds) {
    warm_up(mine_);
    ensemble_.refuse_next(op::create, -101, a_.session_id(), 30);
    expect_granted(acquire(mine_));
}

TEST_F(AcquireFaults, OfADirectoryThatIsAlwaysRemovedEndAtTheDeadline) {
    warm_up(mine_);
    ensemble_.refuse_next(op::create, -101, a_.session_id(), 1'000'000);
    const auto begun = ensemble_.now();
    const auto w = acquire(mine_, 5s);
    EXPECT_EQ(error_of(w), errc::not_acquired) << "it was never in the queue, and servers answered";
    EXPECT_TRUE(is_empty(w->granted));
    EXPECT_LE(w->at - begun, 6s + 10ms);
    EXPECT_LE(ensemble_.count(a_.session_id()).creates, 100U) << "paced";
}

TEST_F(AcquireFaults, OfAnEphemeralDirectoryAreAnError) {
    const operation o = operation::create("/lock", {}, operation::lifetime::ephemeral);
    EXPECT_FALSE(error_of_transaction(b_, o));
    EXPECT_EQ(error_of(acquire(mine_)), errc::ephemeral_parent);
}

TEST_F(AcquireFaults, NoneOfAPersistentDirectoryWithThousandsOfForeignChildren) {
    ensemble_.create("/lock");
    for (int i = 0; i < 5'000; ++i) {
        ensemble_.create("/lock/foreign-" + std::to_string(i));
    }
    ensemble_.run_for(1s);
    expect_granted(acquire(mine_));
}

// ---- refusals ----

TEST_F(RefusedCreate, IsReportedAtOnceAndNotTriedAgain) {
    const std::map<int, errc> words{{-102, errc::not_authorized},
                                    {-114, errc::not_authorized},
                                    {-125, errc::quota_exceeded},
                                    {-108, errc::ephemeral_parent},
                                    {-110, errc::sequence_exhausted},
                                    {-6, errc::unsupported},
                                    {-8, errc::invalid_argument}};
    for (const auto& [code, word] : words) {
        SCOPED_TRACE(code);
        warm_up(mine_);
        ensemble_.refuse_next(op::create, code, a_.session_id());
        const auto begun = ensemble_.now();
        const auto w = acquire(mine_);
        EXPECT_EQ(error_of(w), word) << w->ec.message();
        EXPECT_TRUE(is_empty(w->granted));
        EXPECT_EQ(w->at - begun, round_trip);
        ensemble_.run_for(60s);
        EXPECT_EQ(ensemble_.count(a_.session_id()).creates, 1U);
        EXPECT_EQ(in_queue(), 0U);
    }
}

TEST_F(AcquireFaults, ThatMayHaveCreatedAZnodeBeforeTheirRefusalLeaveNothing) {
    warm_up(mine_);
    for (const when w : {when::before, when::after}) {
        // A server answers so also when something went wrong inside it.
        ensemble_.refuse_next(op::create, -5, a_.session_id(), 1, w);
        EXPECT_EQ(error_of(acquire(mine_)), errc::protocol);
        EXPECT_TRUE(left(0));
    }
    ensemble_.refuse_next(op::children, no_auth, a_.session_id());
    EXPECT_EQ(error_of(acquire(mine_)), errc::not_authorized);
    EXPECT_TRUE(left(0));
}

TEST_F(AcquireFaults, OfAClosedClientEndAtOnce) {
    a_.close();
    ensemble_.run_for(5s);
    for (const auto limit : {0s, 60s}) {
        const auto begun = ensemble_.now();
        const auto w = acquire(mine_, limit);
        EXPECT_EQ(error_of(w), errc::closed);
        EXPECT_EQ(w->at, begun);
    }
}

// ---- sessions ----

TEST_F(AcquireFaults, OfASessionThatEndedWithTheReplyLostAdoptNothingOfIt) {
    warm_up(mine_);
    const std::int64_t before = a_.session_id();
    ensemble_.fail_next(op::create, when::after, before);
    const auto w = acquire(mine_);
    ASSERT_TRUE(left(1));
    const std::string old = ensemble_.children("/lock").front();
    ensemble_.suspend(before);
    ensemble_.run_for(1s);
    ensemble_.expire(before);
    ensemble_.resume(before);
    expect_granted(w);
    EXPECT_NE(a_.session_id(), before);
    EXPECT_EQ(ensemble_.get(w->granted.path())->ephemeral_owner, a_.session_id());
    EXPECT_FALSE(w->granted.path().ends_with(old));
    EXPECT_EQ(in_queue(), 1U);
}

// ---- who else is there ----

TEST_F(AcquireFaults, NoneOfTwoObjectsOfOneSession) {
    mutex twin(a_, "/lock");
    hold h = held(mine_);
    const auto w = queued(twin);
    EXPECT_EQ(in_queue(), 2U) << "each has its own znode";
    h.release();
    expect_granted(w);
    EXPECT_EQ(in_queue(), 1U);
}

TEST_F(AcquireFaults, OfAPredecessorThatNoSessionWillRemoveAreLogged) {
    const std::string persistent = "/lock/_c_01234567-89ab-4def-8123-456789abcdef-lock-0000000000";
    ensemble_.create("/lock");
    ensemble_.create(persistent);
    ensemble_.create("/lock/so-that-our-number-comes-after");
    const auto w = acquire(mine_);
    ensemble_.run_for(30s);
    EXPECT_FALSE(w->done);
    ASSERT_EQ(log_.size(), 1U);
    EXPECT_NE(log_.front().find(persistent), std::string::npos) << log_.front();
    EXPECT_TRUE(ensemble_.exists(persistent)) << "it is somebody's, and stays";
    ensemble_.remove(persistent);
    expect_granted(w);
}

TEST_F(AcquireFaults, OfATryThatAnotherClientPrecededLeaveNothing) {
    for (const when w : {when::before, when::after}) {
        warm_up(mine_);
        ensemble_.fail_next(op::remove, w, a_.session_id());
        const auto t = acquire(mine_, 0s);
        // Its list is empty; the other's create arrives before its own.
        ASSERT_TRUE(soon([&] { return ensemble_.count(a_.session_id()).children == 1; }, 1s));
        hold h = held(theirs_);
        expect_empty(t);
        EXPECT_TRUE(left(1));
        EXPECT_TRUE(h.valid());
        h.release();
        EXPECT_TRUE(left(0));
    }
}

}  // namespace
}  // namespace latchkey::test

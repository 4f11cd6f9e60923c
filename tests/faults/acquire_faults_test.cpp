#include "stepped_test.hpp"

#include <future>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::test {
namespace {

using when = ensemble::when;
using op = ensemble::request_kind;

/// What can go wrong from the call to the grant, beyond the unknown outcomes of single requests.
class AcquireFaults : public SteppedTest {
protected:
    /// The directory is there, and known to the client.
    void warm_up() {
        held(m_).release();
        settle();
    }

    client c_ = connected();
    mutex m_{c_, "/lock"};
};

// ---- no server ----

class NoServer : public SteppedTest {
protected:
    NoServer() {
        for (int i = 0; i < 3; ++i) {
            ensemble_.stop_server(i);
        }
    }

    client c_ = ensemble_.connect({.session_timeout = 12s});
    mutex m_{c_, "/lock"};
};

TEST_F(NoServer, TimedAcquireIsUnreachableAtItsDeadline) {
    const auto begun = ensemble_.now();
    const auto w = acquire(m_, 5s);
    ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 60s));
    EXPECT_EQ(w->ec, errc::unreachable);
    EXPECT_TRUE(is_empty(w->granted));
    EXPECT_LE(w->at - begun, 5s + 10ms);
}

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

TEST_F(NoServer, TryIsUnreachableWithinASessionTimeout) {
    const auto begun = ensemble_.now();
    const auto t = acquire(m_, 0s);
    ASSERT_TRUE(ensemble_.run_until([&] { return t->done; }, 60s));
    EXPECT_EQ(t->ec, errc::unreachable);
    EXPECT_LE(t->at - begun, 12s + 10ms);
}

TEST_F(NoServer, AcquireWaitsForOne) {
    const auto w = acquire(m_);
    ensemble_.run_for(60s);
    EXPECT_FALSE(w->done);
    for (int i = 0; i < 3; ++i) {
        ensemble_.start_server(i);
    }
    expect_granted(w);
}

TEST_F(AcquireFaults, OfASilentNetworkEndAtTheDeadlineAllTheSame) {
    warm_up();
    ensemble_.black_hole(c_.session_id());
    const auto begun = ensemble_.now();
    const auto w = acquire(m_, 2s);
    ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 60s));
    EXPECT_TRUE(is_empty(w->granted));
    EXPECT_EQ(w->ec, errc::unreachable);
    EXPECT_LE(w->at - begun, 3s + 10ms) << "the limit, and a second for the proof";
    ensemble_.resume(c_.session_id());
    ensemble_.run_for(20s);
    EXPECT_EQ(in_queue(), 0U);
}

// ---- the directory ----

TEST_F(AcquireFaults, OfADirectoryThatIsRemovedAgainAndAgainAreRepeatedUntilItHolds) {
    warm_up();
    ensemble_.refuse_next(op::create, -101, c_.session_id(), 30);
    expect_granted(acquire(m_));
}

TEST_F(AcquireFaults, OfADirectoryThatIsAlwaysRemovedEndAtTheDeadline) {
    warm_up();
    ensemble_.refuse_next(op::create, -101, c_.session_id(), 1'000'000);
    const auto begun = ensemble_.now();
    const auto w = acquire(m_, 5s);
    ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 60s));
    EXPECT_TRUE(is_empty(w->granted));
    EXPECT_EQ(w->ec, errc::not_acquired) << "it was never in the queue, and servers answered";
    EXPECT_LE(w->at - begun, 6s + 10ms);
    EXPECT_LE(ensemble_.count(c_.session_id()).creates, 100U) << "paced";
}

TEST_F(AcquireFaults, OfAnEphemeralDirectoryAreAnError) {
    mutex other(c_, "/other");
    hold h = held(other);
    bool made = false;
    h.async_transact({operation::create("/lock", {}, operation::lifetime::ephemeral)},
                     [&](std::error_code ec, const auto&) { made = !ec; });
    ASSERT_TRUE(ensemble_.run_until([&] { return made; }, 10s));
    const auto w = acquire(m_);
    ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 10s));
    EXPECT_EQ(w->ec, errc::ephemeral_parent);
}

TEST_F(AcquireFaults, NoneOfAPersistentDirectory) {
    ensemble_.create("/lock");
    expect_granted(acquire(m_));
}

TEST_F(AcquireFaults, NoneAmongThousandsOfForeignChildren) {
    ensemble_.create("/lock");
    for (int i = 0; i < 5'000; ++i) {
        ensemble_.create("/lock/foreign-" + std::to_string(i));
    }
    ensemble_.run_for(1s);
    expect_granted(acquire(m_));
}

// ---- refusals ----

struct refusal {
    int code;
    errc told;
};

class RefusedCreate : public AcquireFaults, public ::testing::WithParamInterface<refusal> {};

INSTANTIATE_TEST_SUITE_P(Code,
                         RefusedCreate,
                         ::testing::Values(refusal{-102, errc::not_authorized},
                                           refusal{-114, errc::not_authorized},
                                           refusal{-125, errc::quota_exceeded},
                                           refusal{-108, errc::ephemeral_parent},
                                           refusal{-110, errc::sequence_exhausted},
                                           refusal{-6, errc::unsupported},
                                           refusal{-8, errc::invalid_argument}),
                         [](const auto& p) { return std::to_string(-p.param.code); });

TEST_P(RefusedCreate, IsToldAtOnceAndNotTriedAgain) {
    warm_up();
    ensemble_.refuse_next(op::create, GetParam().code, c_.session_id());
    const auto begun = ensemble_.now();
    const auto w = acquire(m_);
    ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 60s));
    EXPECT_EQ(w->ec, GetParam().told) << w->ec.message();
    EXPECT_TRUE(is_empty(w->granted));
    EXPECT_EQ(w->at - begun, round_trip);
    ensemble_.run_for(60s);
    EXPECT_EQ(ensemble_.count(c_.session_id()).creates, 1U);
    EXPECT_EQ(in_queue(), 0U);
}

// A server answers so also when something went wrong inside it.
TEST_F(AcquireFaults, OfMarshallingAreAnErrorThatLeavesNothing) {
    warm_up();
    for (const when w : {when::before, when::after}) {
        ensemble_.refuse_next(op::create, -5, c_.session_id(), 1, w);
        const auto a = acquire(m_);
        ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 60s));
        EXPECT_EQ(a->ec, errc::protocol) << a->ec.message();
        ensemble_.run_for(5s);
        EXPECT_EQ(in_queue(), 0U);
    }
}

TEST_F(AcquireFaults, OfTheListLeaveNoZnodeBehind) {
    warm_up();
    ensemble_.refuse_next(op::children, -102, c_.session_id());
    const auto w = acquire(m_);
    ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 60s));
    EXPECT_EQ(w->ec, errc::not_authorized);
    ensemble_.run_for(5s);
    EXPECT_EQ(in_queue(), 0U);
}

TEST_F(AcquireFaults, OfAClosedClientAreToldAtOnce) {
    c_.close();
    ensemble_.run_for(5s);
    for (const auto limit : {0s, 60s}) {
        const auto begun = ensemble_.now();
        const auto w = acquire(m_, limit);
        ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 60s));
        EXPECT_EQ(w->ec, errc::closed);
        EXPECT_EQ(w->at, begun);
    }
}

// ---- sessions ----

TEST_F(AcquireFaults, OfASessionThatEndedWithTheReplyLostAdoptNothingOfIt) {
    warm_up();
    const std::int64_t before = c_.session_id();
    ensemble_.fail_next(op::create, when::after, before);
    const auto w = acquire(m_);
    ASSERT_TRUE(ensemble_.run_until([&] { return in_queue() == 1; }, 1s));
    const std::string old = ensemble_.children("/lock").front();
    ensemble_.suspend(before);
    ensemble_.run_for(1s);
    ensemble_.expire(before);
    ensemble_.resume(before);
    expect_granted(w);
    EXPECT_NE(c_.session_id(), before);
    EXPECT_EQ(ensemble_.get(w->granted.path())->ephemeral_owner, c_.session_id());
    EXPECT_FALSE(w->granted.path().ends_with(old));
    EXPECT_EQ(in_queue(), 1U);
}

// ---- who else is there ----

TEST_F(AcquireFaults, NoneOfTwoObjectsOfOneSession) {
    mutex twin(c_, "/lock");
    hold h = held(m_);
    const auto w = acquire(twin);
    ensemble_.run_for(5s);
    EXPECT_FALSE(w->done);
    EXPECT_EQ(in_queue(), 2U) << "each has its own znode";
    h.release();
    expect_granted(w);
    EXPECT_EQ(in_queue(), 1U);
}

TEST_F(AcquireFaults, OfAPredecessorThatNoSessionWillRemoveAreToldToTheLog) {
    std::vector<std::string> lines;
    client c = connected({.session_timeout = 12s,
                          .log = [&](const log_record& line) { lines.emplace_back(line.text); }});
    mutex m(c, "/lock");
    const std::string persistent = "/lock/_c_01234567-89ab-4def-8123-456789abcdef-lock-0000000000";
    ensemble_.create("/lock");
    ensemble_.create(persistent);
    ensemble_.create("/lock/so-that-our-number-comes-after");
    const auto w = acquire(m);
    ensemble_.run_for(30s);
    EXPECT_FALSE(w->done);
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_NE(lines.front().find(persistent), std::string::npos) << lines.front();
    EXPECT_TRUE(ensemble_.exists(persistent)) << "it is somebody's, and stays";
    ensemble_.remove(persistent);
    expect_granted(w);
}

TEST_F(AcquireFaults, OfATryThatSomebodyPrecededLeaveNothing) {
    client other = connected();
    mutex theirs(other, "/lock");
    for (const when w : {when::before, when::after}) {
        warm_up();
        ensemble_.fail_next(op::remove, w, c_.session_id());
        const auto t = acquire(m_, 0s);
        // Its list shows nobody; the other's create arrives before its own.
        ASSERT_TRUE(ensemble_.run_until(
            [&] { return ensemble_.count(c_.session_id()).children == 1; }, 1s));
        hold h = held(theirs);
        ASSERT_TRUE(ensemble_.run_until([&] { return t->done; }, 60s));
        EXPECT_TRUE(is_empty(t->granted));
        EXPECT_FALSE(t->ec);
        ensemble_.run_for(5s);
        EXPECT_EQ(in_queue(), 1U);
        EXPECT_TRUE(h.valid());
        h.release();
        ensemble_.run_for(5s);
    }
}

}  // namespace
}  // namespace latchkey::test

#include "request_faults.hpp"
#include "stepped_outcome.hpp"
#include "stepped_test.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

using when = ensemble::when;
using op = ensemble::request_kind;

/// Each write of the library, with each unknown outcome: what the caller is told, and what is left
/// on the servers.
class UnknownOutcome : public SteppedTest, public ::testing::WithParamInterface<request_fault> {
protected:
    /// The next requests of the kind by that client end so.
    void lose(op what, const client& by, int count = 1) {
        asked_for_ = ensemble_.faults_to_come() + static_cast<std::size_t>(count);
        GetParam().meet(ensemble_, what, by.session_id(), count);
    }

    static bool applied() { return GetParam().is_applied(); }

    /// The directory is there, and known to the client.
    void warm_up() {
        held(mine_).release();
        settle();
    }

    /// The last fault has met its request; it shows in the connection, too, if that breaks.
    void expect_met(const client& by) {
        EXPECT_LT(ensemble_.faults_to_come(), asked_for_);
        EXPECT_EQ(by.state() == connection_state::reconnected, GetParam().connection_breaks);
    }

    /// It holds with one znode, its own, and with that znode's token.
    void expect_sole_holder(const hold& h, const client& by) {
        EXPECT_TRUE(h.valid());
        EXPECT_EQ(in_queue(), 1U);
        const auto znode = ensemble_.get(h.path());
        ASSERT_TRUE(znode);
        EXPECT_EQ(znode->ephemeral_owner, by.session_id());
        EXPECT_EQ(znode->czxid, h.token().zxid);
    }

    /// Long after the fault, `by` holds alone.
    void expect_hold(const hold& h, const client& by) {
        ensemble_.run_for(5s);
        expect_sole_holder(h, by);
        expect_met(a_);
    }

    /// Nothing is granted, and no error told; `other` holds on alone.
    void expect_nothing(const std::shared_ptr<attempt>& a, const hold& other) {
        ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 10s));
        EXPECT_TRUE(is_empty(a->granted));
        EXPECT_FALSE(a->ec);
        expect_hold(other, b_);
    }

    /// A transaction is told as such, sent once, and applied or not as the fault says.
    template <class By>
    void expect_indeterminate(By& by, std::vector<operation> more = {}) {
        std::vector<std::error_code> told;
        more.push_back(operation::create("/created"));
        more.push_back(operation::set("/set", "new"));
        by.async_transact(std::move(more),
                          [&](std::error_code ec, const auto&) { told.push_back(ec); });
        ensemble_.run_for(15s);
        ASSERT_EQ(told.size(), 1U);
        EXPECT_EQ(told.front(), errc::indeterminate);
        EXPECT_TRUE(told.front() == error_kind::indeterminate);
        EXPECT_EQ(ensemble_.count().multis, 1U) << "sent again";
        EXPECT_EQ(ensemble_.exists("/created"), applied());
        EXPECT_EQ(ensemble_.get("/set")->data, applied() ? "new" : "old");
    }

    std::size_t asked_for_ = 0;
    client a_ = connected();
    client b_ = connected();
    mutex mine_{a_, "/lock"};
    mutex theirs_{b_, "/lock"};
};

INSTANTIATE_TEST_SUITE_P(Of, UnknownOutcome, ::testing::ValuesIn(every_unknown_outcome()), named);

TEST_P(UnknownOutcome, OfTheCreateIsAHoldWithOneZnode) {
    warm_up();
    lose(op::create, a_);
    const hold h = held(mine_);
    expect_hold(h, a_);
}

TEST_P(UnknownOutcome, OfAContainersCreateIsAHoldWithOneZnode) {
    lose(op::create, a_);  // the directory's own: the first that is sent
    const hold h = held(mine_);
    expect_hold(h, a_);
}

TEST_P(UnknownOutcome, OfATrysCreateIsAHoldWithOneZnode) {
    warm_up();
    lose(op::create, a_);
    const auto t = acquire(mine_, 0s);
    expect_granted(t, 30s);
    expect_hold(t->granted, a_);
}

TEST_P(UnknownOutcome, OfTheCreateOfAWaiterKeepsItsOneZnodeInTheQueue) {
    hold h = held(theirs_);
    settle();
    lose(op::create, a_, 2);  // the directory's, and its own
    const auto w = acquire(mine_);
    ensemble_.run_for(5s);
    EXPECT_FALSE(w->done);
    EXPECT_EQ(in_queue(), 2U);
    h.release();
    expect_granted(w, 30s);
    expect_hold(w->granted, a_);
}

TEST_P(UnknownOutcome, OfACreateThatIsGivenUpIsAnEmptyHoldAndLeavesNothing) {
    const hold h = held(theirs_);
    ensemble_.run_for(1s);
    lose(op::create, a_, 2);
    std::stop_source stop;
    const auto w = acquire(mine_, 1h, {.stop = stop.get_token(), .reserved = {}});
    ensemble_.run_for(one_way);
    stop.request_stop();
    expect_nothing(w, h);
}

TEST_P(UnknownOutcome, OfTheWriteThatResolvesACreateIsAskedAgain) {
    warm_up();
    ensemble_.fail_next(op::create, when::after, a_.session_id());
    lose(op::multi, a_);
    const hold h = held(mine_);
    EXPECT_EQ(ensemble_.count(a_.session_id()).checks, 2U);
    ensemble_.run_for(5s);
    expect_sole_holder(h, a_);
}

TEST_P(UnknownOutcome, OfTheProofBeforeAGrantDelaysTheGrantAndNoMore) {
    client c = connected();
    mutex last(c, "/lock");
    hold first = held(theirs_);
    const auto second = acquire(mine_);
    ensemble_.run_for(1s);
    const auto third = acquire(last);
    ensemble_.run_for(60s);  // not next in line: it has proven nothing for long
    lose(op::multi, c, 2);   // the one that travels with the list, and the one after it
    first.release();
    expect_granted(second, 30s);
    second->granted.release();
    expect_granted(third, 30s);
    ensemble_.run_for(5s);
    expect_sole_holder(third->granted, c);
    expect_met(c);
}

TEST_P(UnknownOutcome, OfAHeartbeatIsNoLoss) {
    const hold h = held(mine_);
    settle();
    for (int i = 0; i < 5; ++i) {
        lose(op::multi, a_);
        ensemble_.run_for(6s);
        ASSERT_TRUE(h.valid()) << i;
        ASSERT_EQ(ensemble_.faults_to_come(), 0U);
    }
    EXPECT_FALSE(h.lost().stop_requested());
    expect_sole_holder(h, a_);
    expect_met(a_);
}

TEST_P(UnknownOutcome, OfAGuardedTransactionIsToldAsSuchAndSentOnce) {
    hold h = held(mine_);
    ensemble_.create("/set", "old");
    ensemble_.create("/removed");
    settle();
    lose(op::multi, a_);
    expect_indeterminate(h, {operation::remove("/removed")});
    EXPECT_EQ(ensemble_.exists("/removed"), !applied());
    expect_hold(h, a_);
}

TEST_P(UnknownOutcome, OfATransactionThatIsAppliedOnceIsFoundOut) {
    hold h = held(mine_);
    ensemble_.create("/set");
    settle();
    lose(op::multi, a_);
    const auto o = std::make_shared<outcome>();
    h.async_transact_once("/marker", {operation::set("/set", "new")}, outcome::into(o, ensemble_));
    ASSERT_TRUE(ensemble_.run_until([&] { return o->done; }, 10s));
    EXPECT_FALSE(o->ec) << o->ec.message();
    EXPECT_TRUE(o->passed);
    expect_hold(h, a_);
    EXPECT_EQ(ensemble_.get("/set")->version, 1);
}

TEST_P(UnknownOutcome, OfATransactionWithoutAHoldIsToldAsSuchAndSentOnce) {
    ensemble_.create("/set", "old");
    settle();
    lose(op::multi, a_);
    expect_indeterminate(a_);
    expect_met(a_);
}

TEST_P(UnknownOutcome, OfTheDeleteOfAReleaseIsRepeatedUntilTheZnodeIsGone) {
    hold h = held(mine_);
    const auto w = acquire(theirs_);
    ensemble_.run_for(1s);
    lose(op::remove, a_);
    h.release();
    EXPECT_FALSE(h);
    expect_granted(w, 10s);
    expect_hold(w->granted, b_);
}

TEST_P(UnknownOutcome, OfTheDeleteOfAWaiterThatGivesUpIsAnEmptyHoldAndLeavesNothing) {
    const hold h = held(theirs_);
    ensemble_.run_for(1s);
    lose(op::remove, a_);
    const auto w = acquire(mine_, 2s);
    expect_nothing(w, h);
}

TEST_P(UnknownOutcome, OfTheDeletesOfAClosedClientEndsWithTheSession) {
    const hold h = held(mine_);
    const auto w = acquire(theirs_);
    ensemble_.run_for(1s);
    const std::int64_t session = a_.session_id();
    constexpr int count = 1000;
    lose(op::remove, a_, count);
    const auto begun = ensemble_.now();
    a_.close();
    ASSERT_TRUE(ensemble_.run_until([&] { return a_.state() == connection_state::closed; }, 30s));
    EXPECT_EQ(h.why_lost(), loss_reason::client_closed);
    EXPECT_LE(ensemble_.now() - begun, 4s);
    expect_granted(w, 30s);
    EXPECT_EQ(in_queue(), 1U);
    EXPECT_LT(ensemble_.faults_to_come(), std::size_t(count));
    // Where each connection broke the request to end it has got lost with one, and its time passes.
    EXPECT_TRUE(ensemble_.run_until(
        [&] {
            const auto all = ensemble_.sessions();
            return std::none_of(
                all.begin(), all.end(), [&](const auto& s) { return s.id == session && s.alive; });
        },
        GetParam().connection_breaks ? 12s + 3s : 0s));
}

/// The end of a session, which has no code: its request arrives, or does not.
class UnknownEnd : public SteppedTest, public ::testing::WithParamInterface<request_fault> {};

INSTANTIATE_TEST_SUITE_P(OfASession,
                         UnknownEnd,
                         ::testing::Values(request_fault{when::before}, request_fault{when::after}),
                         named);

TEST_P(UnknownEnd, IsToldInTimeAndTheServersEndItInTime) {
    client a = connected();
    client b = connected();
    mutex m(a, "/lock");
    mutex next(b, "/lock");
    const hold h = held(m);
    const auto w = acquire(next);
    ensemble_.run_for(1s);
    const std::int64_t session = a.session_id();
    if (!GetParam().is_applied()) {
        ensemble_.black_hole(session);
    }
    a.close();
    ensemble_.run_for(round_trip);  // the delete
    ensemble_.run_for(one_way);     // the end
    if (GetParam().is_applied()) {
        ensemble_.black_hole(session);
    }
    ASSERT_TRUE(ensemble_.run_until([&] { return a.state() == connection_state::closed; }, 10s));
    EXPECT_EQ(h.why_lost(), loss_reason::client_closed);
    expect_granted(w, 12s + 3s);
    EXPECT_EQ(in_queue(), 1U);
}

}  // namespace
}  // namespace latchkey::test

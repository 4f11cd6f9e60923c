#include "once_transaction.hpp"

#include <latchkey/shared_mutex.hpp>

#include "client/client_core.hpp"
#include "result_codes.hpp"

#include <memory>
#include <string>

namespace latchkey::test {
namespace {

using when = ensemble::when;
using op = ensemble::request_kind;

class LateTry : public OnceFaults {
protected:
    /// The server that kept a try for long passes it on.
    void late_try_arrives(const hold& h) {
        client_core& core = *client_core::of(a_);
        bool answered = false;
        core.post([&] {
            core.submit(request::multi(
                            {request::check(h.path(), 0),
                             request::create(
                                 "/marker", "of a try", create_mode::persistent, open_unsafe_acl()),
                             request::set("/effect", "late")}),
                        [&](const reply&) { answered = true; });
        });
        ASSERT_TRUE(ensemble_.run_until([&] { return answered; }, 1s));
    }
};

TEST_F(OnceFaults, UndisturbedIsOneRequestInOneRoundTrip) {
    hold h = held(mine_);
    settle();
    const auto before = ensemble_.now();
    const auto o = once(h);
    finish(o);
    EXPECT_FALSE(o->ec);
    EXPECT_TRUE(o->passed);
    EXPECT_EQ(o->at - before, round_trip);
    EXPECT_EQ(ensemble_.count().multis, 1U);
    EXPECT_EQ(ensemble_.count().requests(), 1U);
    EXPECT_EQ(applied(), 1);
}

TEST_F(OnceFaults, OfASecondCallIsFalseAndAppliesNothing) {
    hold h = held(mine_);
    finish(once(h));
    settle();
    const auto again = once(h);
    finish(again);
    EXPECT_FALSE(again->ec);
    EXPECT_FALSE(again->passed);
    EXPECT_EQ(ensemble_.count().requests(), 1U) << "the refusal says it all";
    EXPECT_EQ(applied(), 1);
}

TEST_F(OnceFaults, AnswerLostAfterItWasAppliedIsTrue) {
    hold h = held(mine_);
    for (const int count : {1, 2, 5}) {
        ensemble_.run_for(20s);
        const int before = applied();
        lose(when::after, count);
        const auto o = once(h);
        finish(o);
        EXPECT_FALSE(o->ec) << o->ec.message();
        EXPECT_TRUE(o->passed);
        EXPECT_EQ(applied(), before + 1);
        ensemble_.remove("/marker");
    }
    EXPECT_TRUE(h.valid());
}

TEST_F(OnceFaults, RequestLostBeforeItWasAppliedIsSentAgain) {
    hold h = held(mine_);
    ensemble_.run_for(1s);
    lose(when::before, 3);
    const auto o = once(h);
    finish(o);
    EXPECT_FALSE(o->ec) << o->ec.message();
    EXPECT_TRUE(o->passed);
    EXPECT_EQ(applied(), 1);
    EXPECT_TRUE(h.valid());
}

TEST_F(OnceFaults, MarkerOfAnotherClientThatCameFirstIsFalse) {
    hold h = held(mine_);
    ensemble_.run_for(1s);
    lose(when::before);
    const auto o = once(h);
    ASSERT_TRUE(ensemble_.run_until([&] { return ensemble_.faults_to_come() == 0; }, 10s));
    ensemble_.create("/marker", "of another client");
    finish(o);
    EXPECT_FALSE(o->ec) << o->ec.message();
    EXPECT_FALSE(o->passed);
    EXPECT_EQ(applied(), 0);
}

/// The first try waits in a server. Whatever the call returns, a program may delete the marker
/// then.
TEST_F(LateTry, IsNotAppliedWhenTheMarkerIsDeletedAfterTheCall) {
    for (const bool other_was_first : {false, true}) {
        hold h = held(mine_);
        ensemble_.run_for(1s);
        lose(when::before);
        const auto o = once(h);
        ASSERT_TRUE(ensemble_.run_until([&] { return ensemble_.faults_to_come() == 0; }, 10s));
        if (other_was_first) {
            ensemble_.create("/marker", "of another client");
        }
        finish(o);
        EXPECT_FALSE(o->ec) << o->ec.message();
        EXPECT_EQ(o->passed, !other_was_first);
        const int before = applied();
        ensemble_.remove("/marker");
        late_try_arrives(h);
        EXPECT_EQ(applied(), before);
        EXPECT_FALSE(ensemble_.exists("/marker"));
        EXPECT_TRUE(h.valid());
    }
}

/// The answer was known already.
TEST_F(LateTry, IsNoReasonToLoseWhatIsKnown) {
    for (const bool by_close : {false, true}) {
        client c = connected();
        mutex m(c, "/known");
        hold h = held(m);
        ensemble_.run_for(1s);
        ensemble_.fail_next(op::multi, when::before, c.session_id());
        ensemble_.fail_next(op::set, when::before, c.session_id(), 1'000'000);
        const auto o = once(h);
        ASSERT_TRUE(ensemble_.run_until([&] { return ensemble_.exists("/marker"); }, 20s));
        ensemble_.run_for(1s);
        EXPECT_FALSE(o->done);
        if (by_close) {
            c.close();
        } else {
            ensemble_.expire(c.session_id());
        }
        finish(o);
        EXPECT_FALSE(o->ec) << o->ec.message();
        EXPECT_TRUE(o->passed);
        ensemble_.remove("/marker");
        ensemble_.fail_next(op::set, when::before, c.session_id(), 0);
    }
}

TEST_F(OnceFaults, ZnodeGoneAfterItWasAppliedIsTrue) {
    hold h = held(mine_);
    ensemble_.run_for(1s);
    lose(when::after);
    const auto o = once(h);
    ASSERT_TRUE(ensemble_.run_until([&] { return applied() == 1; }, 10s));
    ensemble_.remove(h.path());
    finish(o);
    EXPECT_FALSE(o->ec) << o->ec.message();
    EXPECT_TRUE(o->passed);
}

TEST_F(OnceFaults, ZnodeGoneBeforeItWasAppliedIsALostHold) {
    for (const bool in_doubt : {false, true}) {
        hold h = held(mine_);
        ensemble_.run_for(1s);
        if (in_doubt) {
            lose(when::before);
        } else {
            ensemble_.remove(h.path());
        }
        const auto o = once(h);
        if (in_doubt) {
            ASSERT_TRUE(ensemble_.run_until([&] { return ensemble_.faults_to_come() == 0; }, 10s));
            ensemble_.remove(h.path());
        }
        finish(o);
        EXPECT_EQ(o->ec, errc::hold_lost);
        EXPECT_EQ(h.why_lost(), loss_reason::znode_deleted);
        EXPECT_EQ(applied(), 0);
    }
}

TEST_F(OnceFaults, ConversionBeforeItWasAppliedEndsIt) {
    shared_mutex rw(a_, "/shared");
    hold h;
    rw.async_acquire(
        lock_mode::exclusive, {}, [&](std::error_code, hold granted) { h = std::move(granted); });
    ASSERT_TRUE(ensemble_.run_until([&] { return h.valid(); }, 10s));
    settle();
    ensemble_.refuse_next(op::multi, throttled, a_.session_id());
    const auto o = once(h);
    ASSERT_TRUE(ensemble_.run_until([&] { return ensemble_.faults_to_come() == 0; }, 10s));
    hold reading;
    rw.async_convert(std::move(h), lock_mode::shared, {}, [&](std::error_code, hold converted) {
        reading = std::move(converted);
    });
    finish(o);
    EXPECT_EQ(o->ec, errc::hold_lost) << o->ec.message();
    EXPECT_EQ(applied(), 0) << "it was asked for under an exclusive hold";
    ASSERT_TRUE(ensemble_.run_until([&] { return reading.valid(); }, 10s));
    EXPECT_EQ(reading.mode(), lock_mode::shared);
}

TEST_F(OnceFaults, SessionThatEndsAfterItWasAppliedIsTrue) {
    hold h = held(mine_);
    ensemble_.run_for(1s);
    lose(when::after);
    const auto o = once(h);
    ASSERT_TRUE(ensemble_.run_until([&] { return applied() == 1; }, 10s));
    ensemble_.expire(a_.session_id());
    finish(o);
    EXPECT_FALSE(o->ec) << o->ec.message();
    EXPECT_TRUE(o->passed);
    EXPECT_FALSE(h.valid());
}

TEST_F(OnceFaults, SessionThatEndsBeforeItWasAppliedIsALostHold) {
    hold h = held(mine_);
    ensemble_.run_for(1s);
    lose(when::before);
    const auto o = once(h);
    ASSERT_TRUE(ensemble_.run_until([&] { return ensemble_.faults_to_come() == 0; }, 10s));
    ensemble_.expire(a_.session_id());
    finish(o);
    EXPECT_EQ(o->ec, errc::hold_lost) << o->ec.message();
    EXPECT_EQ(applied(), 0);
}

/// The hold is lost, and its znode is still there.
TEST_F(LateTry, ValidityThatEndsMeanwhileIsFoundOutAfterAll) {
    for (const when w : {when::before, when::after}) {
        hold h = held(mine_);
        ensemble_.run_for(1s);
        const int before = applied();
        lose(w);
        const auto o = once(h);
        ASSERT_TRUE(ensemble_.run_until([&] { return ensemble_.faults_to_come() == 0; }, 10s));
        ensemble_.suspend(a_.session_id());
        ASSERT_TRUE(ensemble_.run_until([&] { return !h.valid(); }, 12s));
        EXPECT_FALSE(o->done);
        ensemble_.resume(a_.session_id());
        finish(o);
        ASSERT_TRUE(ensemble_.exists(h.path()));
        if (w == when::after) {
            EXPECT_FALSE(o->ec) << o->ec.message();
            EXPECT_TRUE(o->passed);
            EXPECT_EQ(applied(), before + 1);
        } else {
            EXPECT_EQ(o->ec, errc::hold_lost) << o->ec.message();
            EXPECT_EQ(applied(), before);
            late_try_arrives(h);
            EXPECT_EQ(applied(), before) << "nothing was applied, the caller knows";
        }
    }
}

TEST_F(LateTry, RefusalOfALaterTrySaysThatNoneIsAppliedAnyMore) {
    hold h = held(mine_);
    ensemble_.run_for(1s);
    lose(when::before);
    const auto o = once(h, {operation::check("/effect", 1)});
    ASSERT_TRUE(ensemble_.run_until([&] { return ensemble_.faults_to_come() == 0; }, 10s));
    ensemble_.set("/effect", "by another client");
    finish(o);
    EXPECT_EQ(o->ec, errc::version_mismatch) << o->ec.message();
    EXPECT_FALSE(ensemble_.exists("/marker"));
    late_try_arrives(h);
    EXPECT_EQ(ensemble_.get("/effect")->data, "by another client");
    EXPECT_TRUE(h.valid());
}

TEST_F(OnceFaults, RefusalOfTheFirstTryIsToldAtOnceAndWritesNothing) {
    hold h = held(mine_);
    settle();
    const auto o = once(h, {operation::check("/effect", 7)});
    finish(o);
    EXPECT_EQ(o->ec, errc::version_mismatch);
    EXPECT_EQ(ensemble_.count().requests(), 1U);
    EXPECT_EQ(ensemble_.get(h.path())->version, 0);
}

TEST_F(OnceFaults, RevokedHoldTakesTwoMoreRoundTrips) {
    hold h = held(mine_);
    ensemble_.set(h.path(), "__REVOKE__");
    settle();
    const auto before = ensemble_.now();
    const auto o = once(h);
    finish(o);
    EXPECT_FALSE(o->ec) << o->ec.message();
    EXPECT_TRUE(o->passed);
    EXPECT_EQ(o->at - before, 3 * round_trip);
    EXPECT_EQ(ensemble_.count().requests(), 3U);
    EXPECT_EQ(ensemble_.get(h.path())->data, "__REVOKE__");
    EXPECT_EQ(applied(), 1);
}

TEST_F(LateTry, AnswerThatHasNoWordIsFoundOut) {
    for (const when w : {when::before, when::after}) {
        hold h = held(mine_);
        ensemble_.run_for(1s);
        const int before = applied();
        ensemble_.refuse_next(op::multi, -999, a_.session_id(), 1, w);
        const auto o = once(h);
        finish(o);
        EXPECT_EQ(o->ec, w == when::after ? std::error_code() : errc::protocol);
        EXPECT_EQ(o->passed, w == when::after);
        EXPECT_EQ(applied(), before + (w == when::after ? 1 : 0));
        if (ensemble_.exists("/marker")) {
            ensemble_.remove("/marker");
        }
        late_try_arrives(h);
        EXPECT_EQ(applied(), before + (w == when::after ? 1 : 0));
    }
}

TEST_F(OnceFaults, ClosedClientDoesNotKnowWhatWasSent) {
    hold h = held(mine_);
    ensemble_.run_for(1s);
    ensemble_.black_hole(a_.session_id());
    const auto o = once(h);
    ensemble_.run_for(one_way);
    a_.close();
    finish(o);
    EXPECT_EQ(o->ec, errc::indeterminate) << o->ec.message();
    const auto late = once(h);
    finish(late);
    EXPECT_EQ(late->ec, errc::closed) << late->ec.message();
}

TEST_F(OnceFaults, NoServerForASessionTimeoutIsIndeterminate) {
    hold h = held(mine_);
    ensemble_.run_for(1s);
    const auto o = once(h);
    for (int i = 0; i < 3; ++i) {
        ensemble_.stop_server(i);
    }
    const auto before = ensemble_.now();
    finish(o);
    EXPECT_EQ(o->ec, errc::indeterminate) << o->ec.message();
    EXPECT_GE(o->at - before, 11s);
    EXPECT_LE(o->at - before, 13s);
}

TEST_F(OnceFaults, NothingIsSentForAHoldThatIsLost) {
    hold h = held(mine_);
    ensemble_.run_for(1s);
    ensemble_.remove(h.path());
    ensemble_.run_for(1s);
    settle();
    const auto o = once(h);
    finish(o);
    EXPECT_EQ(o->ec, errc::hold_lost);
    EXPECT_EQ(ensemble_.count().requests(), 0U);
}

TEST_F(OnceFaults, HoldLostBeforeAnythingWasSentIsToldWithoutAServer) {
    hold h = held(mine_);
    ensemble_.run_for(1s);
    ensemble_.suspend(a_.session_id());
    ensemble_.run_for(1s);
    const auto o = once(h);
    finish(o, 12s);
    EXPECT_EQ(o->ec, errc::hold_lost) << o->ec.message();
    EXPECT_EQ(h.why_lost(), loss_reason::deadline_passed);
}

TEST_F(OnceFaults, WaitsForAConnection) {
    hold h = held(mine_);
    ensemble_.run_for(1s);
    ensemble_.suspend(a_.session_id());
    ensemble_.run_for(1s);
    const auto o = once(h);
    ensemble_.run_for(1s);
    EXPECT_FALSE(o->done);
    ensemble_.resume(a_.session_id());
    finish(o);
    EXPECT_FALSE(o->ec) << o->ec.message();
    EXPECT_TRUE(o->passed);
    EXPECT_EQ(applied(), 1);
}

TEST_F(OnceFaults, HoldThatIsReleasedMeanwhileIsFoundOutAfterAll) {
    for (const when w : {when::before, when::after}) {
        hold h = held(mine_);
        ensemble_.run_for(1s);
        lose(w);
        const auto o = once(h);
        ASSERT_TRUE(ensemble_.run_until([&] { return ensemble_.faults_to_come() == 0; }, 10s));
        h.release();
        finish(o);
        EXPECT_EQ(o->ec, w == when::after ? std::error_code() : errc::hold_lost);
        EXPECT_EQ(o->passed, w == when::after);
        EXPECT_EQ(applied(), w == when::after ? 1 : 0);
    }
}

}  // namespace
}  // namespace latchkey::test

#include "once_transaction.hpp"

#include <latchkey/leader_latch.hpp>
#include <latchkey/shared_mutex.hpp>

#include "client/client_core.hpp"
#include "result_codes.hpp"

#include <memory>
#include <string>
#include <utility>

namespace latchkey::test {
namespace {

using when = ensemble::when;
using op = ensemble::request_kind;

// ---- costs ----

TEST_F(OnceFaults, UndisturbedIsOneRequestInOneRoundTrip) {
    hold h = held(mine_);
    for (const bool first : {true, false}) {
        settle();
        const auto before = ensemble_.now();
        const auto o = once(h);
        expect_end(o, first);
        EXPECT_EQ(o->at - before, round_trip);
        EXPECT_EQ(ensemble_.count().multis, 1U);
        EXPECT_EQ(ensemble_.count().requests(), 1U) << "a refusal says it all";
    }
}

TEST_F(OnceFaults, RefusalOfTheFirstTryIsToldAtOnceAndWritesNothing) {
    hold h = held(mine_);
    settle();
    expect_end(once(h, {operation::check("/effect", 7)}), false, errc::version_mismatch);
    EXPECT_EQ(ensemble_.count().requests(), 1U);
    EXPECT_EQ(ensemble_.get(h.path())->version, 0);
}

TEST_F(OnceFaults, RevokedHoldTakesTwoMoreRoundTrips) {
    hold h = held(mine_);
    ensemble_.set(h.path(), "__REVOKE__");
    settle();
    const auto before = ensemble_.now();
    const auto o = once(h);
    expect_end(o, true);
    EXPECT_EQ(o->at - before, 3 * round_trip);
    EXPECT_EQ(ensemble_.count().requests(), 3U);
    EXPECT_EQ(ensemble_.get(h.path())->data, "__REVOKE__");
}

// ---- requests, answers and servers that are lost ----

TEST_F(OnceFaults, AnswersAndRequestsThatAreLostAgainAndAgainAreMadeGood) {
    hold h = held(mine_);
    for (const auto& [w, count] :
         {std::pair(when::after, 2), std::pair(when::after, 5), std::pair(when::before, 3)}) {
        ensemble_.run_for(20s);
        lose(w, count);
        expect_end(once(h), true);
        ensemble_.remove("/marker");
    }
    EXPECT_TRUE(h.valid());
}

TEST_F(OnceFaults, ConversionBeforeItWasAppliedEndsIt) {
    shared_mutex rw(a_, "/shared");
    hold h = held(rw, lock_mode::exclusive);
    settle();
    ensemble_.refuse_next(op::multi, throttled, a_.session_id());
    const auto o = once(h);
    expect_met();
    const auto reading = convert(rw, std::move(h), lock_mode::shared);
    expect_end(o, false, errc::hold_lost);  // it was asked for under an exclusive hold
    expect_granted(reading, 10s);
    EXPECT_EQ(reading->granted.mode(), lock_mode::shared);
}

TEST_F(OnceFaults, ClosedClientDoesNotKnowWhatWasSent) {
    hold h = granted();
    ensemble_.black_hole(a_.session_id());
    const auto o = once(h);
    ensemble_.run_for(one_way);
    a_.close();
    expect_end(o, false, errc::indeterminate);
    expect_end(once(h), false, errc::closed);
}

TEST_F(OnceFaults, NoServerForASessionTimeoutIsIndeterminate) {
    hold h = granted();
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
    hold h = granted();
    ensemble_.remove(h.path());
    ensemble_.run_for(1s);
    settle();
    expect_end(once(h), false, errc::hold_lost);
    EXPECT_EQ(ensemble_.count().requests(), 0U);
}

TEST_F(OnceFaults, WaitsForAConnectionForAsLongAsTheHoldIsValid) {
    for (const bool comes_back : {true, false}) {
        hold h = granted();
        ensemble_.suspend(a_.session_id());
        ensemble_.run_for(1s);
        const auto o = once(h);
        ensemble_.run_for(1s);
        EXPECT_FALSE(o->done);
        if (comes_back) {
            ensemble_.resume(a_.session_id());
            expect_end(o, true);
            ensemble_.remove("/marker");
        } else {
            finish(o, 12s);
            expect_end(o, false, errc::hold_lost);
            EXPECT_EQ(h.why_lost(), loss_reason::deadline_passed);
        }
    }
}

TEST_F(OnceFaults, HoldThatIsReleasedMeanwhileIsFoundOutAfterAll) {
    for (const when w : {when::before, when::after}) {
        hold h = granted();
        const auto o = lost(w, h);
        h.release();
        const bool is_applied = w == when::after;
        expect_end(o, is_applied, is_applied ? std::error_code() : errc::hold_lost);
    }
}

// ---- a try that a server kept for long ----

class LateTry : public OnceFaults {
protected:
    /// The server passes it on, and it changes nothing.
    void expect_that_a_late_try_fails(const hold& h) {
        const auto znode = ensemble_.get("/effect");
        const bool marked = ensemble_.exists("/marker");
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
        EXPECT_EQ(ensemble_.get("/effect")->version, znode->version);
        EXPECT_EQ(ensemble_.exists("/marker"), marked);
    }
};

/// The first try waits in a server. Whatever the call returns, a program may delete the marker
/// then.
TEST_F(LateTry, IsNotAppliedWhenTheMarkerIsDeletedAfterTheCall) {
    for (const bool other_was_first : {false, true}) {
        hold h = granted();
        const auto o = lost(when::before, h);
        if (other_was_first) {
            ensemble_.create("/marker", "of another client");
        }
        expect_end(o, !other_was_first);
        ensemble_.remove("/marker");
        expect_that_a_late_try_fails(h);
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
        expect_end(o, true);
        ensemble_.remove("/marker");
        ensemble_.fail_next(op::set, when::before, c.session_id(), 0);
    }
}

/// The hold is lost, and its znode is still there.
TEST_F(LateTry, ValidityThatEndsMeanwhileIsFoundOutAfterAll) {
    for (const when w : {when::before, when::after}) {
        hold h = granted();
        const auto o = lost(w, h);
        ensemble_.suspend(a_.session_id());
        ASSERT_TRUE(ensemble_.run_until([&] { return !h.valid(); }, 12s));
        EXPECT_FALSE(o->done);
        ensemble_.resume(a_.session_id());
        const bool is_applied = w == when::after;
        expect_end(o, is_applied, is_applied ? std::error_code() : errc::hold_lost);
        ASSERT_TRUE(ensemble_.exists(h.path()));
        expect_that_a_late_try_fails(h);
    }
}

TEST_F(LateTry, RefusalOfALaterTrySaysThatNoneIsAppliedAnyMore) {
    hold h = granted();
    const auto o = lost(when::before, h, {operation::check("/effect", 1)});
    ensemble_.set("/effect", "by another client");
    finish(o);
    EXPECT_EQ(o->ec, errc::version_mismatch) << o->ec.message();
    EXPECT_FALSE(ensemble_.exists("/marker"));
    expect_that_a_late_try_fails(h);
    EXPECT_TRUE(h.valid());
}

TEST_F(LateTry, AnswerThatHasNoWordIsFoundOut) {
    for (const when w : {when::before, when::after}) {
        hold h = granted();
        ensemble_.refuse_next(op::multi, -999, a_.session_id(), 1, w);
        const bool is_applied = w == when::after;
        expect_end(once(h), is_applied, is_applied ? std::error_code() : errc::protocol);
        if (ensemble_.exists("/marker")) {
            ensemble_.remove("/marker");
        }
        expect_that_a_late_try_fails(h);
    }
}

// ---- terms ----

/// A candidate of Curator's that watches the leader's znode loses its watch when the data changes.
class OnceOfALeader : public OnceFaults {
protected:
    OnceOfALeader() {
        ensemble_.create("/service");
        latch_.start();
        lead();
    }

    void lead() {
        ASSERT_TRUE(ensemble_.run_until([&] { return latch_.is_leader(); }, 60s));
        ensemble_.run_for(1s);
        term_ = latch_.term();
    }

    leader_latch latch_{a_, "/service", {.id = "a"}};
    leadership term_;
};

TEST_F(OnceOfALeader, NeverWritesToTheZnodeWhenItIsRefused) {
    const auto o = lost(when::before, term_, {operation::check("/effect", 1)});
    ensemble_.set("/effect", "by another client");
    finish(o);
    EXPECT_EQ(o->ec, errc::indeterminate) << o->ec.message();
    EXPECT_EQ(ensemble_.get(term_.path())->version, 0);
    EXPECT_FALSE(ensemble_.exists("/marker"));
    EXPECT_TRUE(term_.valid());
}

TEST_F(OnceOfALeader, IsFoundOutWhenItIsRefusedBehindATryThatWasApplied) {
    const auto o = lost(when::after, term_, {operation::check("/effect", 1)});
    ASSERT_TRUE(ensemble_.run_until([&] { return ensemble_.exists("/marker"); }, 10s));
    ensemble_.set("/effect", "by another client");
    finish(o);
    EXPECT_FALSE(o->ec) << o->ec.message();
    EXPECT_TRUE(o->passed);
    EXPECT_EQ(ensemble_.get(term_.path())->version, 0);
}

TEST_F(OnceOfALeader, IsFoundOutWhenTheTermEndsMeanwhile) {
    for (const when w : {when::before, when::after}) {
        const std::string path = term_.path();
        const auto o = lost(w, term_);
        latch_.resign();
        const bool is_applied = w == when::after;
        expect_end(o, is_applied, is_applied ? std::error_code() : errc::hold_lost);
        EXPECT_FALSE(ensemble_.exists(path));
        lead();
    }
}

}  // namespace
}  // namespace latchkey::test

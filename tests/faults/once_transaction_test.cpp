#include "client/client_core.hpp"
#include "every_step.hpp"
#include "stepped_outcome.hpp"
#include "stepped_test.hpp"

#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

using when = ensemble::when;
using op = ensemble::operation;

/// hold::transact_once(): the library finds out what became of a try whose answer was lost.
class OnceFaults : public SteppedTest {
protected:
    OnceFaults() { ensemble_.create("/effect"); }

    /// Counts how often it is applied in the version of /effect.
    std::shared_ptr<outcome> once(hold& h, std::vector<operation> more = {}) {
        auto o = std::make_shared<outcome>();
        more.insert(more.begin(), operation::set("/effect", "by the holder"));
        h.async_transact_once("/marker", std::move(more), outcome::into(o, ensemble_));
        return o;
    }

    void finish(const std::shared_ptr<outcome>& o, ensemble::duration limit = 60s) {
        ASSERT_TRUE(ensemble_.run_until([&] { return o->done; }, limit));
    }

    [[nodiscard]] int applied() const { return ensemble_.get("/effect")->version; }

    void lose(when w, int count = 1) { ensemble_.fail_next(op::multi, w, a_.session_id(), count); }

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

    client a_ = connected();
    client b_ = connected();
    mutex mine_{a_, "/lock"};
    mutex theirs_{b_, "/lock"};
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
        EXPECT_EQ(h.why_lost(), loss::znode_deleted);
        EXPECT_EQ(applied(), 0);
    }
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
TEST_F(OnceFaults, ValidityThatEndsMeanwhileIsFoundOutAfterAll) {
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

TEST_F(OnceFaults, RefusalOfALaterTrySaysThatNoneIsAppliedAnyMore) {
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

TEST_F(OnceFaults, AnswerThatHasNoWordIsFoundOut) {
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
    EXPECT_EQ(h.why_lost(), loss::deadline_passed);
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

// ---- at every step ----

struct mishap {
    std::string name;
    void (*happens)(ensemble& on, client& to, const std::string& own);
    bool may_lose_the_hold = false;
};

void PrintTo(const mishap& m, std::ostream* out) {
    *out << m.name;
}

class OnceAtEveryStep : public OnceFaults, public ::testing::WithParamInterface<mishap> {};

INSTANTIATE_TEST_SUITE_P(
    ,
    OnceAtEveryStep,
    ::testing::Values(
        mishap{"connection_cut",
               [](ensemble& on, client& to, const auto&) { on.cut(to.session_id()); }},
        mishap{"connection_cut_twice",
               [](ensemble& on, client& to, const auto&) {
                   on.cut(to.session_id());
                   on.run_for(5ms);
                   on.cut(to.session_id());
               }},
        mishap{"moved_to_a_server_behind",
               [](ensemble& on, client& to, const auto&) {
                   const int behind = (on.leader() + 1) % 3;
                   on.lag(behind, 50ms);
                   on.move(to.session_id(), behind);
                   on.run_for(200ms);
                   on.lag(behind, 0s);
               }},
        mishap{"cut_off_past_the_deadline",
               [](ensemble& on, client& to, const auto&) {
                   const auto session = to.session_id();
                   on.black_hole(session);
                   on.run_for(9s);
                   on.resume(session);
               },
               true},
        mishap{"leader_killed",
               [](ensemble& on, client&, const auto&) {
                   const int killed = on.leader();
                   on.stop_server(killed);
                   on.run_for(1s);
                   on.start_server(killed);
               }},
        mishap{"znode_deleted",
               [](ensemble& on, client&, const std::string& own) {
                   if (on.exists(own)) {
                       on.remove(own);
                   }
               },
               true},
        mishap{"znode_deleted_and_cut",
               [](ensemble& on, client& to, const std::string& own) {
                   if (on.exists(own)) {
                       on.remove(own);
                   }
                   on.cut(to.session_id());
               },
               true},
        mishap{"session_ended",
               [](ensemble& on, client& to, const auto&) { on.expire(to.session_id()); },
               true},
        mishap{"session_replaced",
               [](ensemble& on, client& to, const auto&) {
                   const auto before = to.session_id();
                   on.replace(before);
                   on.cut(before);
                   on.run_for(100ms);
                   on.expire(before);
               },
               true},
        mishap{"marker_of_another",
               [](ensemble& on, client& to, const auto&) {
                   if (!on.exists("/marker")) {
                       on.create("/marker", "of another client");
                   }
                   on.cut(to.session_id());
               }}),
    [](const auto& p) { return p.param.name; });

TEST_P(OnceAtEveryStep, IsAppliedOnceOrNotAtAllAndTheCallerKnows) {
    int trues = 0;
    int others = 0;

    struct scenario {
        hold granted;
        std::shared_ptr<outcome> asked;
        int before;
    };

    const int rounds = at_every_step(
        {.of = ensemble_, .stretch = 8ms, .at_least = one_way / 4},
        [&] {
            if (ensemble_.exists("/marker")) {
                ensemble_.remove("/marker");
            }
            scenario s{held(mine_), nullptr, applied()};
            ensemble_.run_for(1s);
            s.asked = once(s.granted);
            return s;
        },
        [&](scenario& s) { GetParam().happens(ensemble_, a_, s.granted.path()); },
        [&](scenario& s) {
            finish(s.asked);
            const bool by_another = ensemble_.exists("/marker") &&
                                    ensemble_.get("/marker")->data == "of another client";
            if (s.asked->ec) {
                EXPECT_EQ(s.asked->ec, errc::hold_lost) << s.asked->ec.message();
                EXPECT_TRUE(GetParam().may_lose_the_hold);
            } else {
                EXPECT_EQ(s.asked->passed, !by_another);
            }
            (s.asked->passed ? trues : others) += 1;
            const int expected = s.before + (s.asked->passed ? 1 : 0);
            EXPECT_EQ(applied(), expected);
            ensemble_.run_for(15s);
            EXPECT_EQ(applied(), expected) << "later";
            s.granted.release();
            ensemble_.run_for(1s);
        });
    EXPECT_GT(rounds, 16);
    EXPECT_GT(trues, 0);
    if (GetParam().may_lose_the_hold || GetParam().name == "marker_of_another") {
        EXPECT_GT(others, 0);
    } else {
        EXPECT_EQ(others, 0);
    }
}

}  // namespace
}  // namespace latchkey::test

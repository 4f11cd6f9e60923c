// Barriers and groups where requests end in ways that say nothing of the others.
#include <latchkey/barrier.hpp>

#include "every_step.hpp"
#include "in_time.hpp"
#include "meeting_fixture.hpp"
#include "request_faults.hpp"
#include "result_codes.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace latchkey::test {
namespace {

using when = ensemble::when;
using op = ensemble::request_kind;

/// At each kind of request, before a server acts on it and after: a connection that breaks, or an
/// answer that leaves it open, or a refusal for now, on a connection that goes on.
class MeetingFaults : public MeetingTrouble,
                      public ::testing::WithParamInterface<std::tuple<op, request_fault>> {
protected:
    void fail_next(const client& c, int count = 1) {
        asked_for_ += static_cast<std::size_t>(count);
        const auto& [what, fault] = GetParam();
        fault.meet(ensemble_, what, c.session_id(), count);
    }

    /// A fault has met a request if such requests are sent, and only then.
    void expect_met(const std::vector<op>& sent) {
        const op what = std::get<op>(GetParam());
        const bool is_sent = what == op::any || std::count(sent.begin(), sent.end(), what) > 0;
        EXPECT_EQ(ensemble_.faults_to_come() < asked_for_, is_sent);
    }

    std::size_t asked_for_ = 0;
};

TEST_P(MeetingFaults, DelayADoubleBarriersRoundAndThatIsAll) {
    double_barrier one(a_, "/b", 2);
    double_barrier two(b_, "/b", 2);
    for (int round = 0; round < 6; ++round) {
        fail_next(round % 2 == 0 ? a_ : b_, 1 + round / 2);
        const auto first = enter(one);
        ensemble_.run_for(round % 3 * 1ms);
        finish_both(enter(two), first);
        EXPECT_TRUE(one.inside() && two.inside());
        EXPECT_EQ(ensemble_.children("/b").size(), 3U);
        fail_next(round % 2 == 0 ? b_ : a_, 1 + round / 2);
        const auto out = leave(one);
        ensemble_.run_for(round % 3 * 1ms);
        finish_both(leave(two), out);
    }
    EXPECT_TRUE(comes_true([&] { return ensemble_.children("/b").empty(); }));
    expect_met({op::create, op::get, op::children, op::multi});
}

TEST_P(MeetingFaults, OfAnEntrantThatGivesUpLeaveNothing) {
    double_barrier one(a_, "/b", 2);
    fail_next(a_);
    const auto o = std::make_shared<outcome>();
    one.async_enter(50ms, {}, outcome::into(o, ensemble_));
    ASSERT_TRUE(comes_true([&] { return o->done; }));
    EXPECT_FALSE(o->passed);
    if (std::get<request_fault>(GetParam()).connection_breaks) {
        EXPECT_FALSE(o->ec) << o->ec.message();
    }
    EXPECT_TRUE(comes_true([&] { return ensemble_.children("/b").empty(); }));
    expect_met({op::create, op::get, op::children, op::multi});
}

TEST_P(MeetingFaults, DelayTheNewsOfAGroupAndThatIsAll) {
    group mine(a_, "/g");
    group yours(b_, "/g");
    std::vector<group_member> seen;
    const subscription s = yours.on_change([&](const auto& all) { seen = all; });
    const auto is_seen = [&](const std::string& data) {
        return comes_true([&] {
            return seen.size() == 1 && seen[0].data == data &&
                   seen[0].session_id == a_.session_id();
        });
    };
    settle();
    fail_next(a_);
    fail_next(b_, 2);
    const auto m = joined(mine);
    EXPECT_TRUE(is_seen("x"));
    fail_next(a_);
    m->set_data("y");
    EXPECT_TRUE(is_seen("y"));
    fail_next(a_);
    m->leave();
    EXPECT_TRUE(comes_true([&] { return seen.empty(); }));
    EXPECT_TRUE(ensemble_.children("/g").empty());
    // A multi goes ahead of a look for what may have been created, after a connection that broke.
    if (std::get<op>(GetParam()) != op::multi) {
        expect_met({op::create, op::remove, op::get, op::children, op::set});
    }
}

TEST_P(MeetingFaults, DelayAWaitForABarrierAndThatIsAll) {
    barrier mine(a_, "/b");
    ensemble_.create("/b");
    fail_next(a_, 2);
    const auto o = std::make_shared<outcome>();
    mine.async_wait(for_ever, {}, outcome::into(o, ensemble_));
    ensemble_.run_for(5s);
    EXPECT_FALSE(o->done);
    expect_met({op::get, op::multi});
    ensemble_.suspend(a_.session_id());
    ensemble_.remove("/b");
    ensemble_.run_for(1s);
    ensemble_.resume(a_.session_id());
    finish(o);
}

INSTANTIATE_TEST_SUITE_P(
    ,
    MeetingFaults,
    ::testing::Combine(
        ::testing::Values(
            op::create, op::remove, op::get, op::children, op::set, op::multi, op::any),
        ::testing::Values(request_fault{when::before},
                          request_fault{when::after},
                          request_fault{when::before, inconsistency, false},
                          request_fault{when::after, inconsistency, false},
                          request_fault{when::before, throttled, false})),
    [](const auto& p) {
        return name_of(std::get<op>(p.param)) + std::get<request_fault>(p.param).name();
    });

// ---- the moments between what is seen and what is done about it ----

class MeetingMoments : public MeetingTrouble {
protected:
    MeetingMoments() {
        // One round, so that everybody knows the directory.
        finish_both(enter(one_), enter(two_));
        finish_both(leave(one_), leave(two_));
        ensemble_.run_for(1s);
    }

    double_barrier one_{a_, "/b", 2};
    double_barrier two_{b_, "/b", 2};
};

/// From the list that shows the first one until the transaction that counts on it.
class MeetingThatIsLost : public MeetingMoments,
                          public ::testing::WithParamInterface<std::chrono::microseconds> {};

TEST_P(MeetingThatIsLost, BetweenCountingAndBeginningIsNotBegun) {
    const auto first = enter(one_);
    ensemble_.run_for(1s);
    const auto second = enter(two_);
    ensemble_.run_for(GetParam());
    ensemble_.expire(a_.session_id());
    ensemble_.run_for(9ms - GetParam());
    EXPECT_FALSE(second->done) << "alone";
    EXPECT_FALSE(ensemble_.exists("/b/ready"));
    finish_both(first, second);
}

INSTANTIATE_TEST_SUITE_P(, MeetingThatIsLost, ::testing::Values(1500us, 2000us, 2500us));

TEST_F(MeetingMoments, OfGivingUpAndBeginningDecideOneOrTheOther) {
    int together = 0;
    int apart = 0;
    pending second;
    at_every_step(
        {.of = ensemble_, .stretch = 16ms, .at_least = one_way / 4},
        [&] {
            auto first = std::make_shared<outcome>();
            one_.async_enter(100ms, {}, outcome::into(first, ensemble_));
            ensemble_.run_for(90ms);
            return first;
        },
        [&](const auto&) { second = enter(two_); },
        [&](const auto& first) {
            ensemble_.run_for(500ms);
            ASSERT_TRUE(first->done);
            EXPECT_EQ(first->passed, second->passed);
            (first->passed ? together : apart)++;
            if (!first->passed) {
                finish(enter(one_));
                finish(second);
            }
            finish_both(leave(one_), leave(two_));
            ensemble_.run_for(500ms);
        });
    EXPECT_GT(together, 0);
    EXPECT_GT(apart, 0);
}

// ---- servers that are behind ----

/// A barrier that was set before the wait, where the server that is asked does not know of it.
class BarrierBehind : public MeetingTrouble {
protected:
    void move(int server) {
        ensemble_.move(a_.session_id(), server);
        ensemble_.run_for(1s);
    }

    void stands_for_who_waits() {
        barrier b(a_, "/b");
        const auto o = std::make_shared<outcome>();
        b.async_wait(for_ever, {}, outcome::into(o, ensemble_));
        ensemble_.run_for(60s);
        EXPECT_FALSE(o->done);
        ensemble_.remove("/b");
        finish(o);
    }
};

TEST_F(BarrierBehind, StandsAlsoForWhoAsksALeaderThatNobodyFollows) {
    const int old_leader = ensemble_.leader();
    move(old_leader);
    ensemble_.isolate(old_leader);
    ASSERT_TRUE(
        comes_true([&] { return ensemble_.leader() >= 0 && ensemble_.leader() != old_leader; }));
    ensemble_.create("/b");
    ensemble_.run_for(10ms);
    stands_for_who_waits();
}

TEST_F(BarrierBehind, StandsAlsoWhereTheWriteBeforeTheLookIsNotDone) {
    const int follower = (ensemble_.leader() + 1) % 3;
    move(follower);
    for (const int code : {inconsistency, throttled}) {
        ensemble_.lag(follower, 1s);
        ensemble_.create("/b");
        ensemble_.run_for(10ms);
        ensemble_.refuse_next(op::any, code, a_.session_id());
        stands_for_who_waits();
        ensemble_.lag(follower, {});
        ensemble_.run_for(1s);
    }
}

// ---- a barrier that is set and removed by calls that block ----

TEST(BarrierLostReply, MakesItStandOnceAndGoOnce) {
    for (const when w : {when::before, when::after}) {
        for (const int count : {1, 3}) {
            ensemble e;
            client c = e.connect();
            barrier b(c, "/where/it/stands");
            for (int round = 0; round < 3; ++round) {
                EXPECT_TRUE(b.wait_for(0s));
                e.fail_next(op::create, w, c.session_id(), count);
                b.set();
                EXPECT_TRUE(e.exists(b.path()));
                EXPECT_FALSE(in_time(20ms, [&b](auto limit) { return b.wait_for(limit); }));
                e.fail_next(op::remove, w, c.session_id(), count);
                b.remove();
                EXPECT_FALSE(e.exists(b.path()));
            }
        }
    }
}

}  // namespace
}  // namespace latchkey::test

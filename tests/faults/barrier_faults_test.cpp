#include <latchkey/barrier.hpp>
#include <latchkey/double_barrier.hpp>
#include <latchkey/group.hpp>

#include "barrier_calls.hpp"
#include "every_step.hpp"
#include "stepped_outcome.hpp"
#include "stepped_test.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace latchkey::test {
namespace {

using when = ensemble::when;
using op = ensemble::request_kind;
constexpr auto for_ever = std::chrono::nanoseconds::max();

/// A connection that breaks at each kind of request, before a server acts on it and after.
class MeetingLostReply : public SteppedTest,
                         public ::testing::WithParamInterface<std::tuple<op, when>> {
protected:
    void fail_next(const client& c, int count = 1) {
        asked_for_ += static_cast<std::size_t>(count);
        ensemble_.fail_next(
            std::get<0>(GetParam()), std::get<1>(GetParam()), c.session_id(), count);
    }

    /// A fault has met a request if such requests are sent, and only then.
    void expect_met(const std::vector<op>& sent) {
        const op what = std::get<0>(GetParam());
        const bool is_sent = what == op::any || std::count(sent.begin(), sent.end(), what) > 0;
        EXPECT_EQ(ensemble_.faults_to_come() < asked_for_, is_sent);
    }

    std::size_t asked_for_ = 0;

    void finish(const std::shared_ptr<outcome>& o) {
        ASSERT_TRUE(ensemble_.run_until([&] { return o->done; }, 60s));
        EXPECT_TRUE(o->passed) << o->ec.message();
    }

    client a_ = connected();
    client b_ = connected();
};

TEST_P(MeetingLostReply, LeavesADoubleBarrierARound) {
    double_barrier one(a_, "/b", 2);
    double_barrier two(b_, "/b", 2);
    for (int round = 0; round < 6; ++round) {
        fail_next(round % 2 == 0 ? a_ : b_, 1 + round / 2);
        const auto first = enter(one, ensemble_);
        ensemble_.run_for(round % 3 * 1ms);
        const auto second = enter(two, ensemble_);
        finish(first);
        finish(second);
        EXPECT_TRUE(one.inside() && two.inside());
        EXPECT_EQ(ensemble_.children("/b").size(), 3U);
        fail_next(round % 2 == 0 ? b_ : a_, 1 + round / 2);
        const auto out = leave(one, ensemble_);
        ensemble_.run_for(round % 3 * 1ms);
        const auto last = leave(two, ensemble_);
        finish(out);
        finish(last);
    }
    EXPECT_TRUE(ensemble_.run_until([&] { return ensemble_.children("/b").empty(); }, 60s));
    expect_met({op::create, op::get, op::children, op::multi});
}

TEST_P(MeetingLostReply, OfAnEntrantThatGivesUpLeavesNothing) {
    double_barrier one(a_, "/b", 2);
    fail_next(a_);
    const auto o = std::make_shared<outcome>();
    one.async_enter(50ms, {}, outcome::into(o, ensemble_));
    ASSERT_TRUE(ensemble_.run_until([&] { return o->done; }, 60s));
    EXPECT_FALSE(o->passed);
    EXPECT_FALSE(o->ec) << o->ec.message();
    EXPECT_TRUE(ensemble_.run_until([&] { return ensemble_.children("/b").empty(); }, 60s));
    expect_met({op::create, op::get, op::children, op::multi});
}

TEST_P(MeetingLostReply, KeepsAGroupWhole) {
    group mine(a_, "/g");
    group yours(b_, "/g");
    std::vector<group_member> seen;
    const subscription s = yours.on_change([&](const auto& all) { seen = all; });
    settle();
    fail_next(a_);
    fail_next(b_);
    membership m;
    mine.async_join(
        "one", for_ever, {.data = "x", .stop = {}}, [&](std::error_code ec, membership joined) {
            EXPECT_FALSE(ec) << ec.message();
            m = std::move(joined);
        });
    ASSERT_TRUE(ensemble_.run_until([&] { return static_cast<bool>(m); }, 60s));
    EXPECT_TRUE(ensemble_.run_until(
        [&] { return seen.size() == 1 && seen[0].name == "one" && seen[0].data == "x"; }, 60s));
    fail_next(a_);
    m.set_data("y");
    EXPECT_TRUE(ensemble_.run_until([&] { return seen.size() == 1 && seen[0].data == "y"; }, 60s));
    fail_next(a_);
    m.leave();
    EXPECT_TRUE(ensemble_.run_until([&] { return seen.empty(); }, 60s));
    EXPECT_TRUE(ensemble_.children("/g").empty());
    // A multi goes ahead of a look for what may have been created, after a connection that broke.
    expect_met(std::get<0>(GetParam()) == op::multi
                   ? std::vector<op>()
                   : std::vector{op::create, op::remove, op::get, op::children, op::set});
}

TEST_P(MeetingLostReply, DoesNotHoldUpABarrier) {
    barrier mine(a_, "/b");
    ensemble_.create("/b");
    fail_next(a_);
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

INSTANTIATE_TEST_SUITE_P(,
                         MeetingLostReply,
                         ::testing::Combine(::testing::Values(op::create,
                                                              op::remove,
                                                              op::get,
                                                              op::children,
                                                              op::set,
                                                              op::multi,
                                                              op::any),
                                            ::testing::Values(when::before, when::after)));

/// The moments between what is seen and what is done about it.
class MeetingMoments : public SteppedTest {
protected:
    MeetingMoments() {
        // One round, so that everybody knows the directory.
        const std::vector<std::shared_ptr<outcome>> in{enter(one_, ensemble_),
                                                       enter(two_, ensemble_)};
        ensemble_.run_for(1s);
        const std::vector<std::shared_ptr<outcome>> out{leave(one_, ensemble_),
                                                        leave(two_, ensemble_)};
        ensemble_.run_for(1s);
        EXPECT_TRUE(out[0]->passed && out[1]->passed);
    }

    client a_ = connected();
    client b_ = connected();
    double_barrier one_{a_, "/b", 2};
    double_barrier two_{b_, "/b", 2};
};

/// From the list that shows the first one until the transaction that counts on it.
class MeetingThatIsLost : public MeetingMoments,
                          public ::testing::WithParamInterface<std::chrono::microseconds> {};

TEST_P(MeetingThatIsLost, BetweenCountingAndBeginningIsNotBegun) {
    const auto first = enter(one_, ensemble_);
    ensemble_.run_for(1s);
    const auto second = enter(two_, ensemble_);
    ensemble_.run_for(GetParam());
    ensemble_.expire(a_.session_id());
    ensemble_.run_for(9ms - GetParam());
    EXPECT_FALSE(second->done) << "alone";
    EXPECT_FALSE(ensemble_.exists("/b/ready"));
    ASSERT_TRUE(ensemble_.run_until([&] { return first->done && second->done; }, 60s));
    EXPECT_TRUE(first->passed && second->passed);
}

INSTANTIATE_TEST_SUITE_P(, MeetingThatIsLost, ::testing::Values(1500us, 2000us, 2500us));

TEST_F(MeetingMoments, OfGivingUpAndBeginningDecideOneOrTheOther) {
    int together = 0;
    int apart = 0;
    std::shared_ptr<outcome> second;
    at_every_step(
        {.of = ensemble_, .stretch = 16ms, .at_least = one_way / 4},
        [&] {
            auto first = std::make_shared<outcome>();
            one_.async_enter(100ms, {}, outcome::into(first, ensemble_));
            ensemble_.run_for(90ms);
            return first;
        },
        [&](const auto&) { second = enter(two_, ensemble_); },
        [&](const auto& first) {
            ensemble_.run_for(500ms);
            ASSERT_TRUE(first->done);
            EXPECT_EQ(first->passed, second->passed);
            (first->passed ? together : apart)++;
            if (!first->passed) {
                const auto again = enter(one_, ensemble_);
                ensemble_.run_for(500ms);
                EXPECT_TRUE(again->passed);
            }
            const auto out = leave(one_, ensemble_);
            const auto last = leave(two_, ensemble_);
            ensemble_.run_for(500ms);
            EXPECT_TRUE(out->passed && last->passed);
        });
    EXPECT_GT(together, 0);
    EXPECT_GT(apart, 0);
}

}  // namespace
}  // namespace latchkey::test

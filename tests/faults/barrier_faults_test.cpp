#include <latchkey/barrier.hpp>
#include <latchkey/double_barrier.hpp>
#include <latchkey/group.hpp>

#include "barrier_calls.hpp"
#include "stepped_outcome.hpp"
#include "stepped_test.hpp"

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace latchkey::test {
namespace {

using when = ensemble::when;
using op = ensemble::operation;
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
    std::vector<member> seen;
    const subscription s = yours.watch([&](const auto& all) { seen = all; });
    settle();
    fail_next(a_);
    fail_next(b_);
    membership m;
    mine.async_join(for_ever, "one", "x", {}, [&](std::error_code ec, membership joined) {
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
    for (auto late = 0us; late < 16ms; late += 500us) {
        const auto first = std::make_shared<outcome>();
        one_.async_enter(100ms, {}, outcome::into(first, ensemble_));
        ensemble_.run_for(90ms + late);
        const auto second = enter(two_, ensemble_);
        ensemble_.run_for(500ms);
        ASSERT_TRUE(first->done);
        EXPECT_EQ(first->passed, second->passed) << late.count() << " us";
        (first->passed ? together : apart)++;
        if (!first->passed) {
            const auto again = enter(one_, ensemble_);
            ensemble_.run_for(500ms);
            EXPECT_TRUE(again->passed);
        }
        const auto out = leave(one_, ensemble_);
        const auto last = leave(two_, ensemble_);
        ensemble_.run_for(500ms);
        EXPECT_TRUE(out->passed && last->passed) << late.count() << " us";
    }
    EXPECT_GT(together, 0);
    EXPECT_GT(apart, 0);
}

/// Participants that begin, are inside and leave at times drawn from a seed.
class MeetingLoss : public ::testing::TestWithParam<std::uint64_t> {
protected:
    static constexpr std::size_t count = 4;

    static ensemble::options drawn() {
        ensemble::options o;
        o.mode = ensemble::mode::stepped;
        o.seed = GetParam();
        o.one_way = 1ms;
        o.jitter = 2ms;
        o.between_servers = 1ms;
        return o;
    }

    MeetingLoss() {
        for (std::size_t i = 0; i < count; ++i) {
            clients_.push_back(std::make_unique<client>(ensemble_.connect()));
            all_.push_back(std::make_unique<double_barrier>(*clients_[i], "/b", count));
        }
        EXPECT_TRUE(ensemble_.run_until(
            [&] {
                return std::all_of(clients_.begin(), clients_.end(), [](const auto& c) {
                    return c->session_id() != 0;
                });
            },
            30s));
    }

    std::chrono::milliseconds any_time(int most) {
        return std::chrono::milliseconds(random_() % static_cast<std::uint64_t>(most));
    }

    bool all_done(const std::vector<std::shared_ptr<outcome>>& calls) {
        return ensemble_.run_until(
            [&] {
                return std::all_of(
                    calls.begin(), calls.end(), [](const auto& o) { return o->done; });
            },
            300s);
    }

    std::vector<std::shared_ptr<outcome>> all_enter() {
        std::vector<std::shared_ptr<outcome>> calls;
        for (const auto& b : all_) {
            calls.push_back(enter(*b, ensemble_));
            ensemble_.run_for(any_time(8));
        }
        return calls;
    }

    /// What became of a round.
    struct verdict {
        bool well = false;               ///< it began, and everybody came out of it
        bool lost = false;               ///< somebody's session ended after it had begun
        std::size_t others = 0;          ///< who were not lost themselves
        std::size_t told_of_a_loss = 0;  ///< of the others
    };

    /// All enter and leave. Who was lost before it saw that the round had begun waits for the next.
    verdict play_round(bool disturb) {
        for (std::size_t i = 0; i < count; ++i) {
            if (!in_[i]) {
                in_[i] = enter(*all_[i], ensemble_);
                ensemble_.run_for(any_time(8));
                if (disturb) {
                    ensemble_.expire(clients_[random_() % (i + 1)]->session_id());
                }
            }
        }
        const auto passed = [this] {
            return std::count_if(in_.begin(), in_.end(), [](const auto& o) { return o->done; });
        };
        ensemble_.run_until([&] { return passed() > 0; }, 600s);
        ensemble_.run_until([&] { return passed() == std::ptrdiff_t(count); }, 120s);
        verdict v;
        v.lost = passed() < std::ptrdiff_t(count);
        std::vector<std::shared_ptr<outcome>> out;
        for (std::size_t i = 0; i < count; ++i) {
            if (in_[i]->done) {
                EXPECT_TRUE(in_[i]->passed) << in_[i]->ec.message();
                in_[i].reset();
                out.push_back(leave(*all_[i], ensemble_));
            }
        }
        v.well = !out.empty() && all_done(out);
        for (const auto& o : out) {
            const bool own = o->ec == errc::session_lost;
            v.lost = v.lost || own;
            v.others += own ? 0U : 1U;
            v.told_of_a_loss += o->ec == errc::participant_lost ? 1U : 0U;
            EXPECT_TRUE(o->passed != static_cast<bool>(o->ec)) << o->ec.message();
        }
        return v;
    }

    std::vector<std::shared_ptr<outcome>> in_{count};
    std::mt19937_64 random_{GetParam()};
    ensemble ensemble_{drawn()};
    std::vector<std::unique_ptr<client>> clients_;
    std::vector<std::unique_ptr<double_barrier>> all_;
};

TEST_P(MeetingLoss, InsideIsToldToAllTheOthersAndToNobodyOtherwise) {
    for (int round = 0; round < 8; ++round) {
        const auto in = all_enter();
        ASSERT_TRUE(all_done(in)) << "seed " << GetParam() << ", round " << round;
        const std::size_t lost = random_() % (2 * count);  // or nobody
        std::vector<std::size_t> order{0, 1, 2, 3};
        std::shuffle(order.begin(), order.end(), random_);
        std::vector<std::shared_ptr<outcome>> out(count);
        for (const std::size_t i : order) {
            if (i == lost) {
                ensemble_.expire(clients_[i]->session_id());
            }
            ensemble_.run_for(any_time(8));
            out[i] = leave(*all_[i], ensemble_);
        }
        ASSERT_TRUE(all_done(out)) << "seed " << GetParam() << ", round " << round;
        for (std::size_t i = 0; i < count; ++i) {
            const std::error_code expected = lost >= count ? std::error_code()
                                             : i == lost   ? errc::session_lost
                                                           : errc::participant_lost;
            const auto allowed = i == lost && out[i]->ec == errc::participant_lost;
            EXPECT_TRUE(out[i]->ec == expected || allowed)
                << "seed " << GetParam() << ", round " << round << ", participant " << i << " of "
                << lost << ": " << out[i]->ec.message();
            EXPECT_EQ(out[i]->passed, lost >= count);
        }
    }
}

TEST_P(MeetingLoss, WhileEnteringNeverBeginsARoundWithoutSomebody) {
    for (int round = 0; round < 8; ++round) {
        const verdict v = play_round(true);
        EXPECT_TRUE(v.well) << "seed " << GetParam() << ", round " << round;
        // Who was lost after the round had begun is missed by all the others.
        EXPECT_EQ(v.told_of_a_loss, v.lost ? v.others : 0U)
            << "seed " << GetParam() << ", round " << round;
    }
}

TEST_P(MeetingLoss, IsJudgedAlikeByAllWhateverFails) {
    testing::faults rates;
    rates.cut_before = rates.cut_after = 0.02;
    rates.interval = 300ms;
    rates.cut = rates.suspend = rates.pause = rates.expire = 0.05;
    rates.stop = rates.isolate = rates.lag = 0.05;
    rates.lasting = 8s;
    ensemble_.inject(rates);
    for (int round = 0; round < 6; ++round) {
        const verdict v = play_round(false);
        EXPECT_TRUE(v.well) << "seed " << GetParam() << ", round " << round;
        // Who has left with the last request of its session does not know, and the others do.
        EXPECT_TRUE(v.told_of_a_loss == 0 || v.told_of_a_loss == v.others)
            << "seed " << GetParam() << ", round " << round << ": " << v.told_of_a_loss << " of "
            << v.others;
        EXPECT_TRUE(v.lost || v.told_of_a_loss == 0) << "seed " << GetParam();
    }
    ensemble_.inject({});
    ensemble_.run_for(60s);
    EXPECT_TRUE(play_round(false).well) << "seed " << GetParam();
}

TEST_P(MeetingLoss, OfConnectionsAloneIsNone) {
    testing::faults rates;
    rates.cut_before = 0.05;
    rates.cut_after = 0.05;
    ensemble_.inject(rates);
    for (int round = 0; round < 8; ++round) {
        const auto in = all_enter();
        ASSERT_TRUE(all_done(in)) << "seed " << GetParam() << ", round " << round;
        std::vector<std::shared_ptr<outcome>> out;
        for (const auto& b : all_) {
            EXPECT_TRUE(b->inside());
            out.push_back(leave(*b, ensemble_));
            ensemble_.run_for(any_time(8));
        }
        ASSERT_TRUE(all_done(out)) << "seed " << GetParam() << ", round " << round;
        for (const auto& o : out) {
            EXPECT_TRUE(o->passed)
                << "seed " << GetParam() << ", round " << round << ": " << o->ec.message();
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, MeetingLoss, ::testing::Range<std::uint64_t>(1, 21));

}  // namespace
}  // namespace latchkey::test

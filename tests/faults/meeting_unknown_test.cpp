#include <latchkey/acl.hpp>
#include <latchkey/barrier.hpp>
#include <latchkey/double_barrier.hpp>
#include <latchkey/group.hpp>

#include "barrier_calls.hpp"
#include "refused_use.hpp"
#include "result_codes.hpp"
#include "stepped_outcome.hpp"
#include "stepped_test.hpp"

#include <memory>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

using when = ensemble::when;
using op = ensemble::request_kind;

/// Barriers and groups where requests end in ways that say nothing of the others.
class MeetingTrouble : public SteppedTest {
protected:
    void finish(const std::shared_ptr<outcome>& o, const std::error_code& ec = {}) {
        ASSERT_TRUE(ensemble_.run_until([&] { return o->done; }, 60s));
        EXPECT_EQ(o->ec, ec) << o->ec.message();
        EXPECT_EQ(o->passed, !ec);
    }

    std::shared_ptr<membership> join(group& g) {
        auto m = std::make_shared<membership>();
        g.async_join("name",
                     for_ever,
                     {.data = "x", .stop = {}},
                     [m](std::error_code ec, membership joined) {
                         EXPECT_FALSE(ec) << ec.message();
                         *m = std::move(joined);
                     });
        return m;
    }

    std::shared_ptr<membership> joined(group& g) {
        const auto m = join(g);
        EXPECT_TRUE(ensemble_.run_until([&] { return static_cast<bool>(*m); }, 60s));
        return m;
    }

    /// Nobody may do anything there, or everybody.
    void allow(const std::string& path, bool anything) {
        ensemble_.set_acl(
            path, {{"world", "anyone", anything ? permission(31) : static_cast<permission>(0)}});
    }

    client a_ = connected();
    client b_ = connected();
};

// ---- answers that leave it open, or are refusals for now, on a connection that goes on ----

class MeetingUnknown : public MeetingTrouble,
                       public ::testing::WithParamInterface<std::tuple<op, std::pair<int, when>>> {
protected:
    void refuse_next(const client& c) {
        const auto [code, moment] = std::get<1>(GetParam());
        ensemble_.refuse_next(std::get<0>(GetParam()), code, c.session_id(), 2, moment);
    }
};

TEST_P(MeetingUnknown, DelaysARoundAndThatIsAll) {
    double_barrier one(a_, "/b", 2);
    double_barrier two(b_, "/b", 2);
    for (int round = 0; round < 3; ++round) {
        refuse_next(a_);
        const auto first = enter(one, ensemble_);
        const auto second = enter(two, ensemble_);
        finish(first);
        finish(second);
        refuse_next(a_);
        const auto out = leave(one, ensemble_);
        ensemble_.run_for(round * 1ms);
        const auto last = leave(two, ensemble_);
        finish(out);
        finish(last);
    }
    EXPECT_TRUE(ensemble_.run_until([&] { return ensemble_.children("/b").empty(); }, 60s));
}

TEST_P(MeetingUnknown, DelaysAWaitForABarrierAndThatIsAll) {
    barrier b(a_, "/b");
    ensemble_.create("/b");
    refuse_next(a_);
    const auto o = std::make_shared<outcome>();
    b.async_wait(for_ever, {}, outcome::into(o, ensemble_));
    ensemble_.run_for(5s);
    EXPECT_FALSE(o->done);
    ensemble_.remove("/b");
    finish(o);
}

TEST_P(MeetingUnknown, DelaysTheNewsOfAGroupAndThatIsAll) {
    group mine(a_, "/g");
    group yours(b_, "/g");
    std::vector<group_member> seen;
    const subscription s = yours.on_change([&](const auto& all) { seen = all; });
    settle();
    refuse_next(b_);
    const auto m = joined(mine);
    EXPECT_TRUE(ensemble_.run_until(
        [&] { return seen.size() == 1 && seen[0].session_id == a_.session_id(); }, 60s));
    m->leave();
    EXPECT_TRUE(ensemble_.run_until([&] { return seen.empty(); }, 60s));
}

INSTANTIATE_TEST_SUITE_P(
    ,
    MeetingUnknown,
    ::testing::Combine(::testing::Values(op::create, op::get, op::children, op::multi, op::any),
                       ::testing::Values(std::pair(inconsistency, when::before),
                                         std::pair(inconsistency, when::after),
                                         std::pair(throttled, when::before))));

// ---- creates that were done although the next one is refused ----

class MeetingRefusal : public MeetingTrouble {
protected:
    std::shared_ptr<outcome> asked_to_join(group& g) {
        const auto in = std::make_shared<outcome>();
        g.async_join("name",
                     for_ever,
                     {.data = {}, .stop = {}},
                     [&](std::error_code ec, const membership& m) {
                         outcome::into(in, ensemble_)(ec, static_cast<bool>(m));
                     });
        return in;
    }

    /// Access is taken away once it has created something, and given back when that was told.
    void refuse_and_expect_nothing_left(const std::shared_ptr<outcome>& in,
                                        const std::string& directory) {
        const auto empty = [&] { return ensemble_.children(directory).empty(); };
        ASSERT_TRUE(ensemble_.run_until([&] { return !empty(); }, 10s));
        allow(directory, false);
        finish(in, errc::not_authorized);
        allow(directory, true);
        EXPECT_TRUE(ensemble_.run_until(empty, 10s));
    }
};

TEST_F(MeetingRefusal, AfterACreateInDoubtLeavesNoParticipantBehind) {
    double_barrier b(a_, "/b", 2);
    ensemble_.create("/b");
    ensemble_.fail_next(op::create, when::after, a_.session_id(), 3);
    refuse_and_expect_nothing_left(enter(b, ensemble_), "/b");
}

TEST_F(MeetingRefusal, AfterACreateInDoubtLeavesNoMemberBehind) {
    group g(a_, "/g");
    ensemble_.create("/g");
    ensemble_.fail_next(op::create, when::after, a_.session_id(), 3);
    refuse_and_expect_nothing_left(asked_to_join(g), "/g");
}

TEST_F(MeetingRefusal, AfterACreateThatWasNotLookedAtLeavesNoMemberBehind) {
    group g(a_, "/g");
    ensemble_.create("/g");
    ensemble_.refuse_next(op::get, inconsistency, a_.session_id());
    refuse_and_expect_nothing_left(asked_to_join(g), "/g");
}

// ---- what is another's ----

class NameOfAnother : public MeetingTrouble {
protected:
    group mine_{a_, "/g"};
    group yours_{b_, "/g"};
};

TEST_F(NameOfAnother, IsNotTakenAwayByADeleteThatIsRepeated) {
    const auto m = joined(mine_);
    const auto other = join(yours_);
    ensemble_.run_for(1s);
    ensemble_.fail_next(op::remove, when::after, a_.session_id());
    m->leave();
    ASSERT_TRUE(ensemble_.run_until([&] { return static_cast<bool>(*other); }, 10s));
    const auto entry = ensemble_.get("/g/name")->czxid;
    ensemble_.run_for(30s);
    ASSERT_TRUE(ensemble_.exists("/g/name"));
    EXPECT_EQ(ensemble_.get("/g/name")->czxid, entry);
}

TEST_F(NameOfAnother, IsNotTakenAwayByWhoWaitsForItAndIsClosed) {
    const auto m = joined(mine_);
    const auto entry = ensemble_.get("/g/name")->czxid;
    yours_.async_join(
        "name", for_ever, {.data = {}, .stop = {}}, [](std::error_code ec, const membership&) {
            EXPECT_EQ(ec, errc::closed);
        });
    ensemble_.run_for(1s);
    b_.close();
    ensemble_.run_for(5s);
    ASSERT_TRUE(ensemble_.exists("/g/name"));
    EXPECT_EQ(ensemble_.get("/g/name")->czxid, entry);
}

TEST_F(NameOfAnother, IsNotTakenForOnesOwnByWhoComesBack) {
    const auto m = joined(mine_);
    const auto other = join(yours_);
    ensemble_.suspend(a_.session_id());
    ensemble_.remove("/g/name");
    ASSERT_TRUE(ensemble_.run_until([&] { return static_cast<bool>(*other); }, 3s));
    ensemble_.resume(a_.session_id());
    EXPECT_TRUE(ensemble_.run_until([&] { return !m->present(); }, 5s));
    other->leave();
    EXPECT_TRUE(ensemble_.run_until([&] { return m->present(); }, 5s));
}

TEST_F(NameOfAnother, RoundIsNotClearedAwayByWhoHearsLateThatItsOwnIsOver) {
    client c = connected();
    double_barrier one(a_, "/b", 2);
    double_barrier two(b_, "/b", 2);
    double_barrier three(c, "/b", 2);
    const auto first = enter(one, ensemble_);
    const auto second = enter(two, ensemble_);
    finish(first);
    finish(second);
    const auto out = leave(one, ensemble_);
    ensemble_.run_for(1s);
    ensemble_.suspend(a_.session_id());
    finish(leave(two, ensemble_));
    const auto next = enter(two, ensemble_);
    const auto third = enter(three, ensemble_);
    finish(next);
    finish(third);
    ensemble_.resume(a_.session_id());
    finish(out);
    ensemble_.run_for(1s);
    EXPECT_TRUE(ensemble_.exists("/b/ready")) << "two are inside";
}

// ---- what is told after the end of a client ----

TEST_F(MeetingTrouble, ClosedClientIsToldToWhoEntersHoweverOften) {
    double_barrier b(a_, "/b", 2);
    a_.close();
    ensemble_.run_for(1s);
    finish(enter(b, ensemble_), errc::closed);
    finish(enter(b, ensemble_), errc::closed);
}

// ---- servers that are behind ----

/// A barrier that was set before the wait, where the server that is asked does not know of it.
class BarrierBehind : public MeetingTrouble {
protected:
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
    ensemble_.move(a_.session_id(), old_leader);
    ensemble_.run_for(1s);
    ensemble_.isolate(old_leader);
    ASSERT_TRUE(ensemble_.run_until(
        [&] { return ensemble_.leader() >= 0 && ensemble_.leader() != old_leader; }, 60s));
    ensemble_.create("/b");
    ensemble_.run_for(10ms);
    stands_for_who_waits();
}

TEST_F(BarrierBehind, StandsAlsoWhereTheWriteBeforeTheLookIsNotDone) {
    const int follower = (ensemble_.leader() + 1) % 3;
    ensemble_.move(a_.session_id(), follower);
    ensemble_.run_for(1s);
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

}  // namespace
}  // namespace latchkey::test

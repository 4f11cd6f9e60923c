#include "multi_mutex_fixture.hpp"
#include "result_codes.hpp"

#include <map>

namespace latchkey::test {
namespace {

using op = ensemble::request_kind;

TEST_F(MultiFaults, ReleaseOfAHoldOneOfWhoseZnodesHasGoneDeletesTheOthers) {
    hold h = held(mine_);
    settle();
    ensemble_.remove(h.paths()[1]);
    h.release();  // before it is known
    ASSERT_TRUE(ensemble_.run_until([&] { return nothing_left(); }, 5s));
    EXPECT_TRUE(held(mine_).valid());
}

TEST_F(MultiFaults, ZnodeThatGoesWhereItIsTheFirstIsNoGrantElsewhere) {
    held(mine_).release();
    hold y = held(y_);
    settle();
    const auto w = acquire(mine_);
    ASSERT_TRUE(ensemble_.run_until([&] { return in_queue("/x") == 1; }, 5s));
    ensemble_.remove("/x/" + ensemble_.children("/x").front());
    y.release();
    ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 60s));
    expect_whole(w->granted);
}

// The second one's lists wait for those of the first, and must not be answered ahead of its create.
TEST_F(MultiFaults, OfThoseWhoJoinTogetherEachIsToldOnceWhenTheirClientEnds) {
    const auto step = std::chrono::nanoseconds(one_way) / 2;
    for (auto between = 0 * step; between <= round_trip; between += step) {
        for (auto then = 0 * step; then <= 2 * round_trip; then += step) {
            client c = connected();
            multi_mutex first(c, paths_);
            multi_mutex second(c, paths_);
            const auto one = acquire(first);
            ensemble_.run_for(between);
            const auto other = acquire(second);
            ensemble_.run_for(then);
            c.close();
            ASSERT_TRUE(ensemble_.run_until([&] { return one->done && other->done; }, 10s));
            EXPECT_TRUE(!is_empty(one->granted) || one->ec == errc::closed) << one->ec.message();
            EXPECT_EQ(other->ec, errc::closed);
            one->granted.release();
            ASSERT_TRUE(ensemble_.run_until([&] { return nothing_left(); }, 60s));
        }
    }
}

/// Messages of one connection keep their order, and the time between them varies.
class MultiUneven : public MultiFaults {
protected:
    MultiUneven() : MultiFaults(uneven()) {}

    static ensemble::options uneven() {
        ensemble::options o = exact();
        o.jitter = 10 * one_way;
        return o;
    }
};

// The read that sets the watch there is on its way when nobody is ahead elsewhere any more.
TEST_F(MultiUneven, ZnodeThatGoesWhereItIsTheFirstIsNoGrantElsewhere) {
    held(mine_).release();
    std::size_t before_the_read = 0;
    for (int round = 0; round < 40; ++round) {
        hold y = held(y_);
        settle();
        const auto w = acquire(mine_);
        constexpr std::size_t token_predecessor_and_own = 3;
        const auto gets = [&] { return ensemble_.count(a_.session_id()).gets; };
        ASSERT_TRUE(ensemble_.run_until([&] { return gets() == token_predecessor_and_own; }, 5s));
        ensemble_.remove("/x/" + ensemble_.children("/x").front());
        ensemble_.remove(y.path());
        ensemble_.run_until([&] { return !ensemble_.exists(y.path()); }, 1s);
        before_the_read += gets() == token_predecessor_and_own ? 1 : 0;
        ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 60s));
        expect_whole(w->granted);
        w->granted.release();
        y.release();
        ASSERT_TRUE(ensemble_.run_until([&] { return nothing_left(); }, 5s));
    }
    EXPECT_GT(before_the_read, 0U);
}

// The heartbeat tells only of the first.
TEST_F(MultiFaults, RefusedWatchIsSetAllTheSame) {
    for (const int code : {throttled, inconsistency}) {
        hold h = held(mine_);
        ensemble_.refuse_next(op::get, code, a_.session_id(), 6);
        ensemble_.run_for(2s);
        ASSERT_TRUE(h.valid());
        ensemble_.remove(h.paths().back());
        EXPECT_TRUE(ensemble_.run_until([&] { return !h.valid(); }, 1s)) << code;
        EXPECT_EQ(h.why_lost(), loss_reason::znode_deleted);
        h.release();
        EXPECT_TRUE(ensemble_.run_until([&] { return nothing_left(); }, 5s));
    }
}

TEST_F(MultiFaults, ReleaseWhileDisconnectedIsMadeUpFor) {
    hold h = held(mine_);
    settle();
    ensemble_.suspend(a_.session_id());
    ensemble_.run_for(1s);
    h.release();
    ensemble_.run_for(1s);
    EXPECT_FALSE(nothing_left());
    ensemble_.resume(a_.session_id());
    EXPECT_TRUE(ensemble_.run_until([&] { return nothing_left(); }, 5s));
}

TEST_F(MultiFaults, RefusedReleaseIsTriedAgain) {
    hold h = held(mine_);
    settle();
    constexpr int no_auth = -102;
    ensemble_.refuse_next(op::multi, no_auth, a_.session_id());
    ensemble_.refuse_next(op::remove, no_auth, a_.session_id(), 7);
    h.release();
    EXPECT_TRUE(ensemble_.run_until([&] { return nothing_left(); }, 60s));
}

TEST_F(MultiFaults, RefusedCreationIsAnErrorAndLeavesNothing) {
    struct refusal {
        int code;
        errc word;
    };

    constexpr int unimplemented = -6;
    constexpr int no_auth = -102;
    constexpr int quota_exceeded = -125;
    for (const refusal r : {refusal{unimplemented, errc::unsupported},
                            refusal{no_auth, errc::not_authorized},
                            refusal{quota_exceeded, errc::quota_exceeded}}) {
        ensemble_.refuse_next(op::multi, r.code, a_.session_id());
        const auto w = acquire(mine_);
        ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 10s));
        EXPECT_EQ(w->ec, r.word) << w->ec.message();
        ensemble_.run_for(5s);
        EXPECT_TRUE(nothing_left()) << "nothing is taken one by one instead";
        EXPECT_EQ(ensemble_.count(a_.session_id()).multis, 1U);
        ensemble_.reset_counters();
    }
    EXPECT_TRUE(held(mine_).valid());
}

TEST_F(MultiFaults, OneDirectoryThatMayNotBeReadLeavesNothingInTheOthers) {
    held(mine_).release();
    settle();
    ensemble_.set_acl("/z", {{"world", "anyone", permission::create | permission::remove}});
    for (const auto limit : {for_ever, std::chrono::nanoseconds(0)}) {
        const auto w = acquire(mine_, limit);
        ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 20s));
        EXPECT_EQ(w->ec, errc::not_authorized);
        EXPECT_TRUE(ensemble_.run_until([&] { return nothing_left(); }, 5s));
    }
}

TEST_F(MultiFaults, OneSequenceAtItsEndLeavesNothingInTheOthers) {
    held(mine_).release();
    settle();
    ensemble_.set_sequence("/y", 2147483640);
    const auto w = acquire(mine_);
    ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 20s));
    EXPECT_EQ(w->ec, errc::sequence_exhausted);
    EXPECT_TRUE(ensemble_.run_until([&] { return nothing_left(); }, 5s));
}

TEST_F(MultiFaults, DirectoryReapedBetweenTwoAcquiresIsMadeAgain) {
    held(mine_).release();
    settle();
    ensemble_.remove("/y");
    expect_whole(held(mine_));
}

// It is the first on two of them, and waits on the third.
TEST_F(MultiFaults, WaiterThatLosesAnyZnodeJoinsAnewEverywhere) {
    for (const std::string& path : paths_) {
        hold other = held(y_);
        const auto w = acquire(mine_);
        ensemble_.run_for(1s);
        std::map<std::string, std::vector<std::string>> before;
        for (const std::string& p : paths_) {
            before[p] = ensemble_.children(p);
        }
        for (const std::string& name : before[path]) {
            if (path + '/' + name != other.path()) {
                ensemble_.remove(path + '/' + name);
            }
        }
        ensemble_.run_for(1s);
        EXPECT_FALSE(w->done) << path;
        for (const std::string& p : paths_) {
            EXPECT_EQ(in_queue(p), p == "/y" ? 2U : 1U) << p;
            EXPECT_NE(ensemble_.children(p), before[p]) << p;
        }
        other.release();
        ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 10s));
        expect_whole(w->granted);
        w->granted.release();
        ASSERT_TRUE(ensemble_.run_until([&] { return nothing_left(); }, 10s));
    }
}

TEST_F(MultiFaults, DeadlineThatPassesLosesTheHoldOfAll) {
    hold h = held(mine_);
    ensemble_.black_hole(a_.session_id());
    ASSERT_TRUE(ensemble_.run_until([&] { return !h.valid(); }, 12s));
    EXPECT_EQ(h.why_lost(), loss_reason::deadline_passed);
    for (const std::string& p : paths_) {
        EXPECT_EQ(in_queue(p), 1U) << "invalid before the servers let anybody else in";
    }
    ensemble_.resume(a_.session_id());
    h.release();
    EXPECT_TRUE(ensemble_.run_until([&] { return nothing_left(); }, 30s));
}

TEST_F(MultiFaults, ClosedClientLeavesNothing) {
    hold h = held(mine_);
    settle();
    a_.close();
    EXPECT_TRUE(ensemble_.run_until([&] { return nothing_left(); }, 5s));
    EXPECT_EQ(h.why_lost(), loss_reason::client_closed);
}

TEST_F(MultiFaults, StoppedProcessFindsItsHoldInvalidWhenItWakes) {
    hold h = held(mine_);
    settle();
    ensemble_.pause(a_.session_id());
    const auto w = acquire(y_);
    expect_granted(w);
    EXPECT_FALSE(h.valid());
    ensemble_.resume(a_.session_id());
}

}  // namespace
}  // namespace latchkey::test

#include <latchkey/multi_mutex.hpp>

#include "stepped_test.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

using when = ensemble::when;
using op = ensemble::operation;

constexpr auto for_ever = std::chrono::nanoseconds::max();

/// All of several znodes, or none, whatever becomes of requests and answers.
class MultiFaults : public SteppedTest {
protected:
    [[nodiscard]] std::size_t in_queue(const std::string& path) const {
        return ensemble_.children(path).size();
    }

    [[nodiscard]] bool nothing_left() const {
        return std::all_of(
            paths_.begin(), paths_.end(), [this](const auto& p) { return in_queue(p) == 0; });
    }

    /// One znode a path, all of one creation: positions in the queues that were taken in different
    /// transactions could wait for each other.
    void expect_whole(const hold& h) {
        EXPECT_TRUE(h.valid());
        std::set<std::int64_t> creations;
        for (const std::string& znode : h.paths()) {
            const auto found = ensemble_.get(znode);
            ASSERT_TRUE(found) << znode;
            EXPECT_EQ(found->ephemeral_owner, a_.session_id());
            creations.insert(found->czxid);
        }
        EXPECT_EQ(h.paths().size(), paths_.size());
        EXPECT_EQ(creations.size(), 1U);
        EXPECT_GE(h.fencing_token().zxid, *creations.begin());
    }

    void expect_one_each() {
        EXPECT_TRUE(ensemble_.run_until(
            [this] {
                return std::all_of(paths_.begin(), paths_.end(), [this](const auto& p) {
                    return in_queue(p) == 1;
                });
            },
            60s));
    }

    const std::vector<std::string> paths_{"/x", "/y", "/z"};
    client a_ = connected();
    client b_ = connected();
    multi_mutex mine_{a_, paths_};
    mutex y_{b_, "/y"};
};

class MultiLostReply : public MultiFaults, public ::testing::WithParamInterface<when> {};

TEST_P(MultiLostReply, OfTheCreationIsResolvedToOneZnodeEach) {
    for (const bool first_use : {true, false}) {
        ensemble_.fail_next(op::multi, GetParam(), a_.session_id());
        hold h = held(mine_);
        expect_whole(h);
        expect_one_each();
        h.release();
        EXPECT_TRUE(ensemble_.run_until([&] { return nothing_left(); }, 10s)) << first_use;
    }
}

TEST_P(MultiLostReply, OfTheCreationAgainAndAgain) {
    ensemble_.fail_next(op::multi, GetParam(), a_.session_id(), 4);
    const hold h = held(mine_);
    expect_whole(h);
    expect_one_each();
}

TEST_P(MultiLostReply, OfTheDirectories) {
    ensemble_.fail_next(op::create, GetParam(), a_.session_id());
    expect_whole(held(mine_));
}

TEST_P(MultiLostReply, OfTheListsOrTheReadForTheToken) {
    for (const op what : {op::children, op::get}) {
        for (const int count : {1, 3}) {
            ensemble_.fail_next(what, GetParam(), a_.session_id(), count);
            hold h = held(mine_);
            expect_whole(h);
            expect_one_each();
            h.release();
            ensemble_.run_for(5s);
        }
    }
}

TEST_P(MultiLostReply, OfTheReleaseIsRepeatedUntilAllAreGone) {
    for (const int count : {1, 2}) {
        hold h = held(mine_);
        settle();
        ensemble_.fail_next(op::multi, GetParam(), a_.session_id());
        ensemble_.fail_next(op::remove, GetParam(), a_.session_id(), count);
        bool gone = false;
        h.release();
        gone = ensemble_.run_until([&] { return nothing_left(); }, 20s);
        EXPECT_TRUE(gone) << count;
        ensemble_.run_for(20s);
    }
    EXPECT_TRUE(held(mine_).valid());
}

TEST_P(MultiLostReply, OfAGuardedTransactionIsIndeterminate) {
    hold h = held(mine_);
    settle();
    ensemble_.fail_next(op::multi, GetParam(), a_.session_id());
    std::error_code ec;
    h.async_transact({operation::create("/effect")},
                     [&](std::error_code e, const auto&) { ec = e; });
    ASSERT_TRUE(ensemble_.run_until([&] { return static_cast<bool>(ec); }, 10s));
    EXPECT_EQ(ec, errc::indeterminate);
    ensemble_.run_for(5s);
    EXPECT_EQ(ensemble_.exists("/effect"), GetParam() == when::after);
    EXPECT_TRUE(h.valid());
}

// An operator has taken one of them away before their creator knew of them: what is left is no
// place to wait in.
TEST_P(MultiLostReply, OfACreationThatIsTornApartMeanwhileBeginsAnew) {
    held(mine_).release();
    settle();
    ensemble_.fail_next(op::multi, when::after, a_.session_id());
    const auto w = acquire(mine_);
    ASSERT_TRUE(ensemble_.run_until([&] { return in_queue("/z") == 1; }, 1s));
    ensemble_.suspend(a_.session_id());
    const std::string torn = GetParam() == when::before ? "/x" : "/y";
    ensemble_.remove(torn + '/' + ensemble_.children(torn).front());
    ensemble_.run_for(500ms);
    ensemble_.resume(a_.session_id());
    ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 30s));
    expect_whole(w->granted);
    expect_one_each();
}

INSTANTIATE_TEST_SUITE_P(Request,
                         MultiLostReply,
                         ::testing::Values(when::before, when::after),
                         [](const auto& p) {
                             return p.param == when::before ? "NotApplied" : "Applied";
                         });

TEST_F(MultiFaults, ReleaseOfAHoldOneOfWhoseZnodesHasGoneDeletesTheOthers) {
    hold h = held(mine_);
    settle();
    ensemble_.remove(h.paths()[1]);
    h.release();  // before it is known
    ASSERT_TRUE(ensemble_.run_until([&] { return nothing_left(); }, 5s));
    EXPECT_TRUE(held(mine_).valid());
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

// Wherever it is with its requests: at each moment of joining, waiting and being granted.
TEST_F(MultiFaults, CancelledAtAnyMomentLeavesNothingAnywhere) {
    std::size_t granted = 0;
    for (const bool contended : {false, true}) {
        for (auto at = 0us; at < 8ms; at += 250us) {
            hold other;
            if (contended) {
                other = held(y_);
            }
            std::stop_source stop;
            const auto w = acquire(mine_, for_ever, {.stop = stop.get_token(), .reserved = {}});
            ensemble_.run_for(at);
            stop.request_stop();
            if (at % 500us == 0us) {
                ensemble_.cut(a_.session_id());
            }
            ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 10s));
            EXPECT_FALSE(w->ec) << w->ec.message();
            granted += w->granted ? 1 : 0;
            w->granted.release();
            other.release();
            EXPECT_TRUE(ensemble_.run_until([&] { return nothing_left(); }, 10s)) << at.count();
        }
    }
    EXPECT_GT(granted, 0U);
}

TEST_F(MultiFaults, ConnectionThatBreaksAtAnyMomentCostsNoPlace) {
    for (auto at = 0us; at < 8ms; at += 250us) {
        hold other = held(y_);
        const auto w = acquire(mine_);
        ensemble_.run_for(at);
        ensemble_.cut(a_.session_id());
        ensemble_.run_for(2s);
        EXPECT_FALSE(w->done);
        EXPECT_EQ(in_queue("/x"), 1U) << at.count();
        EXPECT_EQ(in_queue("/y"), 2U) << at.count();
        other.release();
        ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 10s)) << at.count();
        expect_whole(w->granted);
        w->granted.release();
        ASSERT_TRUE(ensemble_.run_until([&] { return nothing_left(); }, 10s));
    }
}

TEST_F(MultiFaults, SessionThatEndsAtAnyMomentIsFollowedByANewAttemptEverywhere) {
    for (auto at = 0us; at < 8ms; at += 250us) {
        hold other = held(y_);
        const auto w = acquire(mine_);
        ensemble_.run_for(at);
        ensemble_.expire(a_.session_id());
        ensemble_.run_for(2s);
        EXPECT_FALSE(w->done);
        other.release();
        ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 30s)) << at.count();
        expect_whole(w->granted);
        expect_one_each();
        w->granted.release();
        ASSERT_TRUE(ensemble_.run_until([&] { return nothing_left(); }, 10s));
    }
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
    EXPECT_EQ(h.why_lost(), loss::deadline_passed);
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
    EXPECT_EQ(h.why_lost(), loss::client_closed);
}

TEST_F(MultiFaults, StoppedProcessFindsItsHoldInvalidWhenItWakes) {
    hold h = held(mine_);
    settle();
    ensemble_.pause(a_.session_id());
    const auto w = acquire(y_);
    ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 60s));
    EXPECT_TRUE(w->granted.valid());
    EXPECT_FALSE(h.valid());
    ensemble_.resume(a_.session_id());
}

}  // namespace
}  // namespace latchkey::test

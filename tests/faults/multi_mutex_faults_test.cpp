// All of several znodes, or none, whatever becomes of requests and answers. One fault at each step:
// every_step_test.cpp.
#include <latchkey/multi_mutex.hpp>

#include "lock_fixture.hpp"
#include "result_codes.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

using when = ensemble::when;

class MultiFaults : public LockSteps {
protected:
    explicit MultiFaults(const ensemble::options& o = exact()) : LockSteps(o) {}

    [[nodiscard]] bool has_each(std::size_t znodes) {
        return soon([&] {
            return std::all_of(
                paths_.begin(), paths_.end(), [&](const auto& p) { return in_queue(p) == znodes; });
        });
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
        EXPECT_GE(h.token().zxid, *creations.begin());
        EXPECT_TRUE(has_each(1));
    }

    void expect_whole_and_release(const std::shared_ptr<attempt>& w) {
        finish(w);
        expect_whole(w->granted);
        w->granted.release();
        EXPECT_TRUE(has_each(0));
    }

    void warm_up_multi() {
        held(mine_).release();
        settle();
    }

    /// The answer to its creation is lost, and it was applied.
    std::shared_ptr<attempt> creating_unanswered(std::stop_token stop = {}) {
        ensemble_.fail_next(op::multi, when::after, a_.session_id());
        auto w = acquire(mine_, for_ever, {.stop = std::move(stop), .reserved = {}});
        EXPECT_TRUE(soon([&] { return in_queue("/z") == 1; }, 1s));
        return w;
    }

    [[nodiscard]] std::string first_of(const std::string& path) const {
        return path + '/' + ensemble_.children(path).front();
    }

    /// Another creation of the attempt that made `paths`.
    static request creation_like(const std::vector<std::string>& paths) {
        constexpr std::size_t digits = 10;
        std::vector<request> late;
        for (const std::string& path : paths) {
            late.push_back(request::create(path.substr(0, path.size() - digits),
                                           {},
                                           create_mode::ephemeral_sequential,
                                           open_unsafe_acl()));
        }
        return request::multi(late);
    }

    const std::vector<std::string> paths_{"/x", "/y", "/z"};
    client a_ = connected();
    client b_ = connected();
    multi_mutex mine_{a_, paths_};
    mutex y_{b_, "/y"};
};

class MultiLostReply : public MultiFaults, public ::testing::WithParamInterface<when> {};

INSTANTIATE_TEST_SUITE_P(Request,
                         MultiLostReply,
                         ::testing::Values(when::before, when::after),
                         [](const auto& p) {
                             return p.param == when::before ? "NotApplied" : "Applied";
                         });

TEST_P(MultiLostReply, OfEachRequestAgainAndAgainIsOneWholeHoldAndLeavesNothing) {
    const auto lose = [&](op what, int times) {
        ensemble_.fail_next(what, GetParam(), a_.session_id(), times);
    };
    for (const op what : {op::create, op::multi, op::children, op::get}) {
        for (const int times : {1, 4}) {
            SCOPED_TRACE(std::to_string(static_cast<int>(what)) + " x " + std::to_string(times));
            lose(what, times);
            const auto w = acquire(mine_);
            finish(w);
            expect_whole(w->granted);
            lose(what, times);
            lose(op::remove, times);
            w->granted.release();
            EXPECT_TRUE(has_each(0));
            lose(what, 0);
            lose(op::remove, 0);
        }
    }
}

// ---- the release ----

TEST_F(MultiFaults, ReleaseThatIsLostOrWaitsForAConnectionFreesAllOfThemAtOnceNevertheless) {
    for (const bool lost : {false, true}) {
        hold h = held(mine_);
        settle();
        if (lost) {
            ensemble_.fail_next(op::multi, when::before, a_.session_id(), 2);
            h.release();
        } else {
            ensemble_.suspend(a_.session_id());
            h.release();
            ensemble_.run_for(1s);
            EXPECT_FALSE(ensemble_.children("/x").empty());
            ensemble_.cut(a_.session_id());
            ensemble_.resume(a_.session_id());
        }
        ASSERT_TRUE(has_each(0));
        EXPECT_EQ(ensemble_.count(a_.session_id()).removes, 0U);
    }
}

TEST_F(MultiFaults, ReleaseOfAHoldOneOfWhoseZnodesHasGoneDeletesTheOthers) {
    hold h = held(mine_);
    settle();
    ensemble_.remove(h.paths()[1]);
    h.release();  // before it is known
    ASSERT_TRUE(has_each(0));
    EXPECT_TRUE(held(mine_).valid());
}

// ---- refusals ----

TEST_F(MultiFaults, RefusedCreationIsAnErrorAndLeavesNothing) {
    const std::map<int, errc> refusals{
        {-6, errc::unsupported}, {no_auth, errc::not_authorized}, {-125, errc::quota_exceeded}};
    for (const auto& [code, word] : refusals) {
        ensemble_.reset_counters();
        ensemble_.refuse_next(op::multi, code, a_.session_id());
        EXPECT_EQ(error_of(acquire(mine_)), word) << code;
        ensemble_.run_for(5s);
        EXPECT_TRUE(has_each(0)) << "nothing is taken one by one instead";
        EXPECT_EQ(ensemble_.count(a_.session_id()).multis, 1U);
    }
    EXPECT_TRUE(held(mine_).valid());
}

TEST_F(MultiFaults, OneDirectoryThatCannotBeUsedLeavesNothingInTheOthers) {
    warm_up_multi();
    ensemble_.set_acl("/z", {{"world", "anyone", permission::create | permission::remove}});
    for (const auto limit : {for_ever, std::chrono::nanoseconds(0)}) {
        EXPECT_EQ(error_of(acquire(mine_, limit)), errc::not_authorized);
        EXPECT_TRUE(has_each(0));
    }
    ensemble_.set_acl("/z", open_unsafe_acl());
    ensemble_.set_sequence("/y", 2147483640);
    EXPECT_EQ(error_of(acquire(mine_)), errc::sequence_exhausted);
    EXPECT_TRUE(has_each(0));
}

// The heartbeat tells only of the first.
TEST_F(MultiFaults, RefusedWatchIsSetAllTheSame) {
    for (const int code : {throttled, inconsistency}) {
        hold h = held(mine_);
        ensemble_.refuse_next(op::get, code, a_.session_id(), 6);
        ensemble_.run_for(2s);
        ASSERT_TRUE(h.valid());
        ensemble_.remove(h.paths().back());
        expect_lost(h, loss_reason::znode_deleted, 1s);
        h.release();
        EXPECT_TRUE(has_each(0)) << code;
    }
}

// ---- znodes that go ----

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
        ASSERT_TRUE(soon([&] { return gets() == token_predecessor_and_own; }, 5s));
        ensemble_.remove(first_of("/x"));
        ensemble_.remove(y.path());
        EXPECT_TRUE(soon([&] { return !ensemble_.exists(y.path()); }, 1s));
        before_the_read += gets() == token_predecessor_and_own ? 1 : 0;
        y.release();
        expect_whole_and_release(w);
    }
    EXPECT_GT(before_the_read, 0U);
}

// It is the first on two of them, and waits on the third.
TEST_F(MultiFaults, WaiterThatLosesAnyZnodeJoinsAnewEverywhere) {
    for (const std::string& path : paths_) {
        SCOPED_TRACE(path);
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
        EXPECT_FALSE(w->done);
        for (const std::string& p : paths_) {
            EXPECT_EQ(in_queue(p), p == "/y" ? 2U : 1U) << p;
            EXPECT_NE(ensemble_.children(p), before[p]) << p;
        }
        other.release();
        expect_whole_and_release(w);
    }
}

// An operator has taken one of them away before their creator knew of them: what is left is no
// place to wait in.
TEST_F(MultiFaults, CreationThatIsTornApartBeginsAnewOrLeavesNothing) {
    for (const bool given_up : {false, true}) {
        for (const char* const torn : {"/x", "/y"}) {
            SCOPED_TRACE(std::string(torn) + (given_up ? ", given up" : ""));
            warm_up_multi();
            std::stop_source stop;
            const auto w = creating_unanswered(stop.get_token());
            ensemble_.suspend(a_.session_id());
            ensemble_.remove(first_of(torn));
            if (given_up) {
                stop.request_stop();
            }
            ensemble_.run_for(500ms);
            ensemble_.resume(a_.session_id());
            if (given_up) {
                expect_empty(w, 5s);
                EXPECT_TRUE(has_each(0));
            } else {
                expect_whole_and_release(w);
            }
        }
    }
}

// ---- creations that come late ----

// Servers do that when it has waited in the queue of one of them, and its session has come back.
TEST_F(MultiFaults, CreationThatComesLateIsDeletedEverywhere) {
    for (const bool released : {false, true}) {
        warm_up_multi();
        const auto w = creating_unanswered();  // and the servers do not keep it
        std::vector<std::string> paths;
        for (const std::string& p : paths_) {
            paths.push_back(first_of(p));
            ensemble_.remove(paths.back());
        }
        finish(w);
        hold h = std::move(w->granted);
        if (released) {
            h.release();
            ASSERT_TRUE(has_each(0));
        }
        arrives_late(a_, creation_like(paths));
        ASSERT_TRUE(has_each(released ? 1 : 2));
        ensemble_.cut(a_.session_id());
        EXPECT_TRUE(has_each(released ? 0 : 1));
        if (!released) {
            expect_whole(h);
        }
    }
}

/// A creation whose answer is lost, torn apart before it is known of: what is left in /y and /z is
/// deleted, but not at once. The numbers of a directory that is made again begin again.
class MultiTornApart : public MultiFaults {
protected:
    void SetUp() override {
        next_ = creating_unanswered();
        ensemble_.suspend(a_.session_id());
        ensemble_.remove(first_of("/x"));
        ensemble_.reset_counters();
        ensemble_.refuse_next(op::remove, no_auth, a_.session_id(), 2);
        ensemble_.resume(a_.session_id());
        ASSERT_TRUE(soon([&] { return ensemble_.count(a_.session_id()).gets == 2; }, 5s));
        torn_ = first_of("/y");
        ensemble_.remove(torn_);
        ensemble_.remove("/y");
        finish(next_);
        ASSERT_EQ(number_of(next_->granted.paths()[1]), number_of(torn_));
    }

    static std::string number_of(const std::string& path) {
        constexpr std::size_t digits = 10;
        return path.substr(path.size() - digits);
    }

    std::shared_ptr<attempt> next_;
    std::string torn_;
};

TEST_F(MultiTornApart, DeleteThatIsRepeatedOrComesLateNeverHitsTheNextCreation) {
    ensemble_.run_for(10s);
    expect_whole(next_->granted);
    // It was repeated with success, and its session has come back to the server that it waits at.
    arrives_late(a_, request::remove(torn_));
    expect_whole(next_->granted);
}

// ---- the end of the client ----

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
            EXPECT_EQ(error_of(other), errc::closed);
            finish(one);
            EXPECT_TRUE(!is_empty(one->granted) || one->ec == errc::closed) << one->ec.message();
            one->granted.release();
            ASSERT_TRUE(has_each(0));
        }
    }
}

}  // namespace
}  // namespace latchkey::test

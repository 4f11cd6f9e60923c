#include "multi_mutex_fixture.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

using when = ensemble::when;
using op = ensemble::request_kind;

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

TEST_F(MultiFaults, ReleaseThatIsLostFreesAllOfThemAtOnceNevertheless) {
    hold h = held(mine_);
    settle();
    ensemble_.fail_next(op::multi, when::before, a_.session_id(), 2);
    h.release();
    ASSERT_TRUE(ensemble_.run_until([&] { return nothing_left(); }, 20s));
    EXPECT_EQ(ensemble_.count(a_.session_id()).removes, 0U);
}

TEST_F(MultiFaults, ReleaseWithoutAConnectionFreesAllOfThemAtOnce) {
    hold h = held(mine_);
    settle();
    ensemble_.suspend(a_.session_id());
    h.release();
    ensemble_.run_for(10ms);
    ensemble_.cut(a_.session_id());
    ensemble_.resume(a_.session_id());
    ASSERT_TRUE(ensemble_.run_until([&] { return nothing_left(); }, 10s));
    EXPECT_EQ(ensemble_.count(a_.session_id()).removes, 0U);
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

TEST_F(MultiFaults, CreationThatIsTornApartAndGivenUpLeavesNothing) {
    held(mine_).release();
    settle();
    ensemble_.fail_next(op::multi, when::after, a_.session_id());
    std::stop_source stop;
    const auto w = acquire(mine_, for_ever, {.stop = stop.get_token(), .reserved = {}});
    ASSERT_TRUE(ensemble_.run_until([&] { return in_queue("/z") == 1; }, 1s));
    ensemble_.suspend(a_.session_id());
    ensemble_.remove("/x/" + ensemble_.children("/x").front());
    stop.request_stop();
    ensemble_.run_for(500ms);
    ensemble_.resume(a_.session_id());
    ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 5s));
    EXPECT_TRUE(is_empty(w->granted));
    EXPECT_TRUE(ensemble_.run_until([&] { return nothing_left(); }, 5s));
}

// Servers do that when it has waited in the queue of one of them, and its session has come back.
TEST_F(MultiFaults, CreationThatComesLateIsDeletedEverywhere) {
    for (const bool released : {false, true}) {
        held(mine_).release();
        settle();
        ensemble_.fail_next(op::multi, when::before, a_.session_id());
        hold h = held(mine_);
        const auto paths = h.paths();
        if (released) {
            h.release();
            ASSERT_TRUE(ensemble_.run_until([&] { return nothing_left(); }, 5s));
        }
        arrives_late(paths);
        const std::size_t both = released ? 1 : 2;
        for (const std::string& p : paths_) {
            ASSERT_TRUE(ensemble_.run_until([&] { return in_queue(p) == both; }, 5s));
        }
        ensemble_.cut(a_.session_id());
        if (released) {
            EXPECT_TRUE(ensemble_.run_until([&] { return nothing_left(); }, 10s));
        } else {
            expect_one_each();
            expect_whole(h);
        }
        h.release();
    }
}

// Of two creations of one attempt, the older one torn apart: the lowest znodes are of both.
TEST_F(MultiFaults, MixtureOfTwoCreationsIsNeverAdopted) {
    held(mine_).release();
    settle();
    ensemble_.fail_next(op::multi, when::after, a_.session_id());
    const auto w = acquire(mine_);
    ASSERT_TRUE(ensemble_.run_until([&] { return in_queue("/z") == 1; }, 1s));
    std::vector<std::string> older;
    for (const std::string& p : paths_) {
        older.push_back(p + '/' + ensemble_.children(p).front());
    }
    ensemble_.fail_next(op::get, when::before, a_.session_id());
    for (const auto now : {connection_state::suspended, connection_state::reconnected}) {
        ASSERT_TRUE(ensemble_.run_until([&] { return a_.state() == now; }, 5s));
    }
    arrives_late(older);
    ASSERT_TRUE(ensemble_.run_until([&] { return in_queue("/z") == 2; }, 5s));
    ensemble_.remove(older.front());
    EXPECT_EQ(in_queue("/x"), 1U);
    EXPECT_FALSE(w->done);
    ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 30s));
    expect_whole(w->granted);
    expect_one_each();
    expect_whole(w->granted);
}

/// A creation whose answer is lost, torn apart before it is known of: what is left in /y and /z is
/// deleted, but not at once. The numbers of a directory that is made again begin again.
class MultiTornApart : public MultiFaults {
protected:
    void SetUp() override {
        constexpr int no_auth = -102;
        ensemble_.fail_next(op::multi, when::after, a_.session_id());
        next_ = acquire(mine_);
        ASSERT_TRUE(ensemble_.run_until([&] { return in_queue("/z") == 1; }, 1s));
        ensemble_.suspend(a_.session_id());
        ensemble_.remove("/x/" + ensemble_.children("/x").front());
        ensemble_.reset_counters();
        ensemble_.refuse_next(op::remove, no_auth, a_.session_id(), 2);
        ensemble_.resume(a_.session_id());
        ASSERT_TRUE(
            ensemble_.run_until([&] { return ensemble_.count(a_.session_id()).gets == 2; }, 5s));
        torn_ = "/y/" + ensemble_.children("/y").front();
        ensemble_.remove(torn_);
        ensemble_.remove("/y");
        ASSERT_TRUE(ensemble_.run_until([&] { return next_->done; }, 30s));
        expect_whole(next_->granted);
        ASSERT_EQ(number_of(next_->granted.paths()[1]), number_of(torn_));
    }

    static std::string number_of(const std::string& path) {
        constexpr std::size_t digits = 10;
        return path.substr(path.size() - digits);
    }

    std::shared_ptr<attempt> next_;
    std::string torn_;
};

TEST_F(MultiTornApart, DeleteThatIsRepeatedNeverHitsTheNextCreation) {
    ensemble_.run_for(10s);
    expect_whole(next_->granted);
    expect_one_each();
}

// It was repeated with success meanwhile, and its session has come back to the server that it waits
// at.
TEST_F(MultiTornApart, DeleteThatComesLateNeverHitsTheNextCreation) {
    const auto core = client_core::of(a_);
    bool came = false;
    core->post([&] { core->submit(request::remove(torn_), [&](const reply&) { came = true; }); });
    ASSERT_TRUE(ensemble_.run_until([&] { return came; }, 5s));
    expect_whole(next_->granted);
    expect_one_each();
}

INSTANTIATE_TEST_SUITE_P(Request,
                         MultiLostReply,
                         ::testing::Values(when::before, when::after),
                         [](const auto& p) {
                             return p.param == when::before ? "NotApplied" : "Applied";
                         });

}  // namespace
}  // namespace latchkey::test

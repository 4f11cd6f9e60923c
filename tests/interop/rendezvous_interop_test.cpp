// Barriers and groups of ours, and Curator's DistributedBarrier, DistributedDoubleBarrier and
// GroupMember, on one path.
#include <latchkey/barrier.hpp>
#include <latchkey/double_barrier.hpp>
#include <latchkey/group.hpp>

#include "in_time.hpp"
#include "interop_test.hpp"
#include "notebook.hpp"

#include <memory>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

/// What becomes of an asynchronous call.
template <class Start>
std::future<bool> promised(Start start) {
    auto passed = std::make_shared<std::promise<bool>>();
    start([passed](std::error_code ec, bool result) {
        EXPECT_FALSE(ec) << ec.message();
        passed->set_value(result);
    });
    return passed->get_future();
}

// ---- barriers ----

class BarrierInterop : public InteropTest {
protected:
    client client_ = connect();
    barrier ours_{client_, path_};
    peer_lock theirs_ = curators("barrier");
};

TEST_F(BarrierInterop, WeWaitForCurators) {
    theirs_.set();
    catch_up(client_);
    EXPECT_FALSE(in_time(100ms, [&](auto limit) { return ours_.wait_for(limit); }));
    auto waiting = promised([&](barrier::wait_handler h) {
        ours_.async_wait(std::chrono::nanoseconds::max(), {}, std::move(h));
    });
    EXPECT_FALSE(is_ready(waiting, 100ms));
    theirs_.release();
    EXPECT_TRUE(waiting.get());
}

TEST_F(BarrierInterop, CuratorWaitsForOurs) {
    ours_.set();
    EXPECT_FALSE(theirs_.try_acquire(100ms));
    auto waiting = theirs_.acquire();
    EXPECT_FALSE(is_ready(waiting, 100ms));
    ours_.remove();
    answer_of(std::move(waiting));
    EXPECT_TRUE(theirs_.try_acquire(30s));
}

TEST_F(BarrierInterop, WhoeverTakesItAwayTakesItAwayForBoth) {
    theirs_.set();
    ours_.remove();
    EXPECT_TRUE(theirs_.try_acquire(30s));
    ours_.set();
    theirs_.release();
    EXPECT_TRUE(ours_.wait_for(30s));
}

// ---- double barriers ----

/// Two of ours and one of Curator's; three make a round.
class DoubleBarrierInterop : public InteropTest {
protected:
    static std::future<bool> entering(double_barrier& b) {
        return promised([&](double_barrier::wait_handler h) {
            b.async_enter(std::chrono::nanoseconds::max(), {}, std::move(h));
        });
    }

    static std::future<bool> leaving(double_barrier& b) {
        return promised([&](double_barrier::wait_handler h) {
            b.async_leave(std::chrono::nanoseconds::max(), {}, std::move(h));
        });
    }

    void all_enter() {
        auto one = entering(one_);
        auto other = entering(other_);
        ASSERT_TRUE(queue_has(2));
        EXPECT_FALSE(is_ready(one, 100ms));
        EXPECT_FALSE(is_ready(other));
        auto theirs = theirs_.acquire();
        EXPECT_TRUE(one.get());
        EXPECT_TRUE(other.get());
        answer_of(std::move(theirs));
    }

    client first_ = connect();
    client second_ = connect();
    double_barrier one_{first_, path_, 3};
    double_barrier other_{second_, path_, 3};
    peer_lock theirs_ = curators("double_barrier", 3);
};

TEST_F(DoubleBarrierInterop, AllEnterTogetherWhenCuratorComesLast) {
    all_enter();
}

TEST_F(DoubleBarrierInterop, AllEnterTogetherWhenWeComeLast) {
    auto theirs = theirs_.acquire();
    auto one = entering(one_);
    ASSERT_TRUE(queue_has(2));
    EXPECT_FALSE(is_ready(theirs, 100ms));
    EXPECT_FALSE(is_ready(one));
    EXPECT_TRUE(other_.enter());
    EXPECT_TRUE(one.get());
    answer_of(std::move(theirs));
}

TEST_F(DoubleBarrierInterop, AllLeaveTogetherWhoeverIsLast) {
    all_enter();
    auto theirs = theirs_.leave();
    auto one = leaving(one_);
    EXPECT_FALSE(is_ready(theirs, 100ms));
    EXPECT_FALSE(is_ready(one));
    EXPECT_TRUE(other_.leave());
    EXPECT_TRUE(one.get());
    answer_of(std::move(theirs));

    all_enter();  // a second round
    one = leaving(one_);
    auto other = leaving(other_);
    EXPECT_FALSE(is_ready(one, 100ms));
    EXPECT_FALSE(is_ready(other));
    answer_of(theirs_.leave());
    EXPECT_TRUE(one.get());
    EXPECT_TRUE(other.get());
    EXPECT_TRUE(queue_has(0));
}

// ---- groups ----

class GroupInterop : public InteropTest {
protected:
    static std::vector<std::string> described(const std::vector<group_member>& members) {
        std::vector<std::string> all;
        for (const group_member& m : members) {
            all.push_back(m.name + ':' + m.data);
        }
        return all;
    }

    /// Both see these, now or soon.
    void expect_both_see(const std::vector<std::string>& members) {
        EXPECT_TRUE(eventually([&] { return described(group_.members()) == members; }));
        EXPECT_TRUE(eventually([&] { return theirs_.participants() == members; }));
    }

    client client_ = connect();
    group group_{client_, path_};
    peer_lock theirs_ = curators("group", 1, "theirs");
};

TEST_F(GroupInterop, MembersAndTheirDataAreSeenFromBothSides) {
    membership ours = group_.join("ours", {.data = "latchkey"});
    answer_of(theirs_.acquire());
    expect_both_see({"ours:latchkey", "theirs:curator"});
    ours.set_data("changed");
    expect_both_see({"ours:changed", "theirs:curator"});
    ours.leave();
    expect_both_see({"theirs:curator"});
}

TEST_F(GroupInterop, WhoWatchesIsToldOfCuratorsComingAndGoing) {
    notebook<std::vector<std::string>> told;
    const subscription watching = group_.on_change(
        [&](const std::vector<group_member>& members) { told.note(described(members)); });
    EXPECT_TRUE(told.eventually_end_with({})) << ::testing::PrintToString(told.all());
    answer_of(theirs_.acquire());
    EXPECT_TRUE(told.eventually_end_with({"theirs:curator"}))
        << ::testing::PrintToString(told.all());
    theirs_.release();
    EXPECT_TRUE(told.eventually_end_with({}))
        << ::testing::PrintToString(told.all())
        << ", there: " << ::testing::PrintToString(world_->children(path_));
}

TEST_F(GroupInterop, MembersOfOurClosedClientAreGoneForCurator) {
    answer_of(theirs_.acquire());
    client second = connect();
    group mine(second, path_);
    const membership ours = mine.join("ours", {.data = "latchkey"});
    expect_both_see({"ours:latchkey", "theirs:curator"});
    second.close();
    expect_both_see({"theirs:curator"});
}

}  // namespace
}  // namespace latchkey::test

#include "stepped_test.hpp"

#include <string>

namespace latchkey::test {
namespace {

/// Somebody deletes what participants rely on.
class DeletedZnode : public SteppedTest {
protected:
    /// The znodes in the queue, in order; there is one client's prefix for each.
    [[nodiscard]] std::string znode_of(int place) const {
        for (const std::string& name : ensemble_.children("/lock")) {
            if (name.ends_with(std::to_string(place))) {
                return "/lock/" + name;
            }
        }
        ADD_FAILURE() << "nobody at " << place;
        return {};
    }

    client a_ = connected();
    client b_ = connected();
    client c_ = connected();
    mutex first_{a_, "/lock"};
    mutex second_{b_, "/lock"};
    mutex third_{c_, "/lock"};
};

TEST_F(DeletedZnode, OfAWaiterIsNoticedThoughItsWatchWasJustUsedUp) {
    const hold h = held(first_);
    const auto w = acquire(second_);
    ensemble_.run_for(1s);
    const auto next = acquire(third_);
    ensemble_.run_for(1s);
    const std::string own = znode_of(1);
    const std::string predecessor = znode_of(0);
    // One event tells of the change, and none of the deletion.
    ensemble_.set(own, "changed");
    ensemble_.remove(own);
    ensemble_.remove(predecessor);
    ASSERT_TRUE(ensemble_.run_until([&] { return next->done || w->done; }, 10s));
    EXPECT_FALSE(w->done) << "granted without a znode";
    expect_granted(next, 10s);
    ensemble_.run_for(5s);
    EXPECT_FALSE(w->done) << "it is at the tail now";
    next->granted.release();
    expect_granted(w, 10s);
}

TEST_F(DeletedZnode, OfAWaiterIsNoticed) {
    const hold h = held(first_);
    const auto w = acquire(second_);
    ensemble_.run_for(1s);
    const auto next = acquire(third_);
    ensemble_.run_for(1s);
    ensemble_.remove(znode_of(1));
    ensemble_.remove(znode_of(0));
    ASSERT_TRUE(ensemble_.run_until([&] { return next->done || w->done; }, 10s));
    EXPECT_FALSE(w->done);
    EXPECT_TRUE(next->granted.valid());
}

TEST_F(DeletedZnode, ChangesOfTheDataAreNoDeletions) {
    hold h = held(first_);
    const auto w = acquire(second_);
    ensemble_.run_for(1s);
    for (int i = 0; i < 10; ++i) {
        ensemble_.set(znode_of(0), std::to_string(i));
        ensemble_.set(znode_of(1), std::to_string(i));
        ensemble_.run_for(100ms);
    }
    EXPECT_FALSE(w->done);
    EXPECT_TRUE(h.valid());
    h.release();
    expect_granted(w, 10s);
}

TEST_F(DeletedZnode, OfAHolderThatMayNotWatchItIsNoticedByTheHeartbeat) {
    constexpr int no_auth = -102;
    ensemble_.refuse_next(ensemble::request_kind::get, no_auth, a_.session_id(), 1'000);
    const hold h = held(first_);
    ensemble_.run_for(1s);
    ensemble_.remove(znode_of(0));
    ASSERT_TRUE(ensemble_.run_until([&] { return !h.valid(); }, 3s));
    EXPECT_EQ(h.why_lost(), loss_reason::znode_deleted);
}

}  // namespace
}  // namespace latchkey::test

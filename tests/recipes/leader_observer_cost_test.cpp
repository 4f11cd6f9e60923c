#include <latchkey/leader_observer.hpp>

#include "stepped_test.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

/// What the header says of requests, round trips and watches.
class LeaderObserverCost : public SteppedTest {
protected:
    std::string candidate(const char* sequence, const std::string& id) {
        return ensemble_.create(
            std::string("/lead/_c_01234567-89ab-cdef-0123-456789abcdef-latch-") + sequence, id);
    }

    bool runs_until_leads(const leader_observer& o, const std::string& id) {
        return ensemble_.run_until([&] { return o.current() && o.current()->id == id; }, 10s);
    }
};

TEST_F(LeaderObserverCost, ObserverHasTwoWatchesWhoeverLeads) {
    client c = connected();
    ensemble_.create("/lead");
    const leader_observer o(c, "/lead");
    settle();
    EXPECT_EQ(ensemble_.open_watches(), 2U) << "the directory's children, and its data";
    const auto a = candidate("0000000000", "a");
    ASSERT_TRUE(runs_until_leads(o, "a"));
    settle();
    EXPECT_EQ(ensemble_.open_watches(), 2U) << "the leader's znode, and the directory's data";
    ensemble_.remove(a);
    ASSERT_TRUE(ensemble_.run_until([&] { return !o.current(); }, 10s));
    settle();
    EXPECT_EQ(ensemble_.open_watches(), 2U);
}

TEST_F(LeaderObserverCost, FollowersCostAnObserverNothing) {
    client c = connected();
    ensemble_.create("/lead");
    candidate("0000000000", "a");
    const leader_observer o(c, "/lead");
    ASSERT_TRUE(runs_until_leads(o, "a"));
    settle();
    const auto b = candidate("0000000001", "b");
    candidate("0000000002", "c");
    ensemble_.remove(b);
    ensemble_.run_for(1s);
    EXPECT_EQ(ensemble_.count(c.session_id()).requests(), 0U);
    EXPECT_EQ(ensemble_.count(c.session_id()).watch_events, 0U);
}

TEST_F(LeaderObserverCost, ChangeOfLeaderIsTwoRequestsInTwoRoundTrips) {
    client c = connected();
    ensemble_.create("/lead");
    const auto a = candidate("0000000000", "a");
    candidate("0000000001", "b");
    const leader_observer o(c, "/lead");
    ASSERT_TRUE(runs_until_leads(o, "a"));
    settle();
    const auto before = ensemble_.now();
    ensemble_.remove(a);
    ASSERT_TRUE(runs_until_leads(o, "b"));
    EXPECT_LE(ensemble_.now() - before, one_way + 2 * round_trip);
    const testing::counters n = ensemble_.count(c.session_id());
    EXPECT_EQ(n.requests(), 2U);
    EXPECT_EQ(n.children + n.gets, 2U);
    EXPECT_EQ(n.watch_events, 1U);
}

TEST_F(LeaderObserverCost, WhoOnlyLooksNeedsTwoWatchesAfterEveryReconnect) {
    client c = connected();
    ensemble_.create("/lead");
    candidate("0000000000", "a");
    const leader_observer o(c, "/lead");
    ASSERT_TRUE(runs_until_leads(o, "a"));
    for (int i = 0; i < 3; ++i) {
        ensemble_.cut(c.session_id());
        ensemble_.run_for(5s);
    }
    EXPECT_EQ(ensemble_.open_watches(), 2U);
}

}  // namespace
}  // namespace latchkey::test

#include "loop/send_window.hpp"
#include "stepped_test.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

/// What many participants of one client cost together, counted by the servers.
class CostOfMany : public SteppedTest {
protected:
    static constexpr std::size_t many = 200;

    /// All at once, behind the hold of another client.
    void queue() {
        for (std::size_t i = 0; i < many; ++i) {
            mutexes_.push_back(std::make_unique<mutex>(client_, "/lock"));
            waiters_.push_back(acquire(*mutexes_.back()));
        }
        ensemble_.run_for(1s);
    }

    [[nodiscard]] testing::counters count() { return ensemble_.count(client_.session_id()); }

    /// One after the other, in some order.
    void expect_all_are_granted() {
        hold_.release();
        for (std::size_t granted = 0; granted < many; ++granted) {
            attempt* next = nullptr;
            ASSERT_TRUE(ensemble_.run_until(
                [&] {
                    for (const auto& w : waiters_) {
                        next = w->done && w->granted ? w.get() : next;
                    }
                    return next != nullptr;
                },
                10s))
                << granted;
            EXPECT_TRUE(next->granted.valid());
            next->granted.release();
        }
        EXPECT_TRUE(ensemble_.run_until([&] { return ensemble_.children("/lock").empty(); }, 10s));
    }

    client other_ = connected();
    client client_ = connected();
    mutex first_{other_, "/lock"};
    hold hold_ = held(first_);
    std::vector<std::unique_ptr<mutex>> mutexes_;
    std::vector<std::shared_ptr<attempt>> waiters_;
};

TEST_F(CostOfMany, WhoJoinTogetherIsTwoListsAndTwoReadsEach) {
    settle();
    queue();
    EXPECT_EQ(ensemble_.children("/lock").size(), many + 1);
    EXPECT_EQ(count().children, 2U);
    EXPECT_EQ(count().gets, 2 * many);
}

TEST_F(CostOfMany, WaitersAtAReconnectIsTwoReadsEachAndNoList) {
    queue();
    for (int server = 0; server < 3; ++server) {
        settle();
        ensemble_.move(client_.session_id(), server);
        ensemble_.run_for(1s);
        EXPECT_EQ(count().children, 0U);
        EXPECT_EQ(count().gets, 2 * many);
        EXPECT_EQ(count().creates + count().removes + count().sets + count().multis, 0U);
    }
    expect_all_are_granted();
}

TEST_F(CostOfMany, WaitersWhoseReadsAreLostAgainAndAgainIsNoListEither) {
    queue();
    settle();
    for (int i = 0; i < 5; ++i) {
        ensemble_.cut(client_.session_id());
        ensemble_.run_for(3ms);
    }
    ensemble_.run_for(1s);
    EXPECT_EQ(count().children, 0U);
    expect_all_are_granted();
}

TEST_F(CostOfMany, WaitersOfWhomSomeAreLeftIsAListForThoseWhosePredecessorsAreGone) {
    queue();
    settle();
    ensemble_.suspend(client_.session_id());
    const auto names = ensemble_.children("/lock");
    // A waiter's znode that somebody deletes is missed by itself and by the one behind it.
    ensemble_.remove("/lock/" + names[1] != hold_.path() ? "/lock/" + names[1]
                                                         : "/lock/" + names[2]);
    ensemble_.resume(client_.session_id());
    ensemble_.run_for(1s);
    EXPECT_EQ(ensemble_.children("/lock").size(), many + 1);
    EXPECT_LE(count().children, 3U);
    expect_all_are_granted();
}

TEST_F(CostOfMany, CreatesThatAreLostTogetherIsOneSearchForAll) {
    ensemble_.fail_next(
        ensemble::request_kind::create, ensemble::when::before, client_.session_id());
    ensemble_.reset_counters();
    queue();
    EXPECT_EQ(ensemble_.children("/lock").size(), many + 1);
    EXPECT_LE(count().children, 6U);
    EXPECT_LE(count().checks, 6U);
    settle();
    ensemble_.cut(client_.session_id());
    ensemble_.run_for(1s);
    EXPECT_LE(count().children, 2U) << "the search for those that come late";
    EXPECT_LE(count().checks, 3U);
    expect_all_are_granted();
}

/// Those that begin together would leave holes in the heap, and would all need an answer in time.
TEST_F(CostOfMany, LocksAtOnceIsAFewHundredJoinsAtATime) {
    constexpr std::size_t all = 3000;
    constexpr std::size_t creates = 3;  // two levels, and the participant
    settle();
    for (std::size_t i = 0; i < all; ++i) {
        mutexes_.push_back(std::make_unique<mutex>(client_, "/own/" + std::to_string(i)));
        waiters_.push_back(acquire(*mutexes_.back()));
    }
    std::size_t most = 0;
    const auto all_are_granted = [&] {
        const auto granted = std::size_t(
            std::count_if(waiters_.begin(), waiters_.end(), [](const auto& w) { return w->done; }));
        most = std::max(most, count().creates / creates - granted);
        return granted == all;
    };
    for (int i = 0; i < 10'000 && !all_are_granted(); ++i) {
        ensemble_.run_for(1ms);
    }
    EXPECT_TRUE(all_are_granted());
    EXPECT_LE(most, send_window::width);
}

}  // namespace
}  // namespace latchkey::test

#include "cost_test.hpp"
#include "loop/send_window.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

/// What many participants of one client cost together. What joins cost that begin at once is a row
/// of cost_growth_test.cpp.
class CostOfMany : public CostTest {
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

    /// One after the other, in some order.
    void expect_all_are_granted() {
        hold_.release();
        for (std::size_t granted = 0; granted < many; ++granted) {
            hold next;
            ASSERT_TRUE(ensemble_.run_until([&] { return take_granted(next); }, 10s)) << granted;
            EXPECT_TRUE(next.valid());
        }
        EXPECT_TRUE(ensemble_.run_until([&] { return in_queue() == 0; }, 10s));
    }

    bool take_granted(hold& next) {
        for (const auto& w : waiters_) {
            if (w->granted) {
                next = std::move(w->granted);
                return true;
            }
        }
        return false;
    }

    client other_ = connected();
    client client_ = connected();
    mutex first_{other_, "/lock"};
    hold hold_ = held(first_);
    std::vector<std::unique_ptr<mutex>> mutexes_;
    std::vector<std::shared_ptr<attempt>> waiters_;
};

TEST_F(CostOfMany, WaitersAtAReconnectIsTwoReadsEachAndNoList) {
    queue();
    for (int server = 0; server < 3; ++server) {
        settle();
        ensemble_.move(client_.session_id(), server);
        ensemble_.run_for(1s);
        EXPECT_EQ(count(client_).children, 0U);
        EXPECT_EQ(count(client_).gets, 2 * many);
        EXPECT_EQ(count(client_).creates + count(client_).removes + count(client_).sets +
                      count(client_).multis,
                  0U);
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
    EXPECT_EQ(count(client_).children, 0U);
    expect_all_are_granted();
}

TEST_F(CostOfMany, WaitersOfWhomSomeAreLeftIsAListForThoseWhosePredecessorsAreGone) {
    queue();
    settle();
    ensemble_.suspend(client_.session_id());
    // When a waiter's znode is deleted, that waiter and the one behind it notice.
    for (const std::string& name : ensemble_.children("/lock")) {
        if ("/lock/" + name != hold_.path()) {
            ensemble_.remove("/lock/" + name);
            break;
        }
    }
    ensemble_.resume(client_.session_id());
    ensemble_.run_for(1s);
    EXPECT_EQ(in_queue(), many + 1);
    EXPECT_LE(count(client_).children, 3U);
    expect_all_are_granted();
}

TEST_F(CostOfMany, CreatesThatAreLostTogetherIsOneSearchForAll) {
    ensemble_.fail_next(
        ensemble::request_kind::create, ensemble::when::before, client_.session_id());
    ensemble_.reset_counters();
    queue();
    EXPECT_EQ(in_queue(), many + 1);
    EXPECT_LE(count(client_).children, 6U);
    EXPECT_LE(count(client_).checks, 6U);
    settle();
    ensemble_.cut(client_.session_id());
    ensemble_.run_for(1s);
    EXPECT_LE(count(client_).children, 2U) << "the search for those that come late";
    EXPECT_LE(count(client_).checks, 3U);
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
        most = std::max(most, count(client_).creates / creates - granted);
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

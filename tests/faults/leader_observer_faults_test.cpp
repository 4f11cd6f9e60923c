#include <latchkey/leader_observer.hpp>

#include "every_step.hpp"
#include "listening_observer.hpp"
#include "stepped_test.hpp"

#include <optional>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

using when = ensemble::when;
using op = ensemble::request_kind;

/// Whatever becomes of the observer's requests, answers and sessions: what it tells is true in the
/// end, never goes back, and leaves out no "nobody" between two leaders.
class LeaderObserverFaults : public SteppedTest {
protected:
    LeaderObserverFaults() { ensemble_.create("/lead"); }

    std::string candidate() {
        std::string digits = std::to_string(++joined_);
        digits.insert(0, 10 - digits.size(), '0');
        return ensemble_.create("/lead/_c_01234567-89ab-cdef-0123-456789abcdef-latch-" + digits,
                                std::to_string(joined_));
    }

    leader_observer::listener notes() {
        return [this](const std::optional<leader_info>& now) { told_.push_back(now); };
    }

    /// Nobody's name in `told_` is "".
    [[nodiscard]] std::string last() const {
        return told_.empty() ? "?" : told_.back() ? told_.back()->id : "";
    }

    [[nodiscard]] bool comes_to(const std::string& id) {
        return ensemble_.run_until([&] { return last() == id; }, 60s);
    }

    /// The latest candidate of all.
    [[nodiscard]] bool comes_to_the_last() { return comes_to(std::to_string(joined_)); }

    void expect_in_order() const {
        int newest = 0;
        for (std::size_t i = 0; i < told_.size(); ++i) {
            if (!told_[i]) {
                EXPECT_TRUE(i == 0 || told_[i - 1]) << "nobody, twice";
                continue;
            }
            if (i > 0 && told_[i - 1]) {
                EXPECT_EQ(told_[i]->path, told_[i - 1]->path) << "nobody was left out";
            }
            EXPECT_GE(std::stoi(told_[i]->id), newest) << "somebody who led before";
            newest = std::stoi(told_[i]->id);
        }
    }

    void remove_directory() {
        if (ensemble_.exists("/lead")) {
            ensemble_.remove("/lead");
        }
    }

    void make_anew() {
        remove_directory();
        ensemble_.create("/lead");
    }

    /// The next leader, with what it publishes, to its end.
    void expect_followed() {
        const auto leader = candidate();
        EXPECT_TRUE(comes_to_the_last());
        const std::string name = leader.substr(leader.rfind('/') + 1);
        ensemble_.set(
            "/lead",
            R"({"state":"leading","leader":"x","token":7,"data":"at","znode":")" + name + "\"}");
        EXPECT_TRUE(
            ensemble_.run_until([&] { return told_.back() && told_.back()->data == "at"; }, 10s));
        ensemble_.remove(leader);
        EXPECT_TRUE(comes_to(""));
    }

    client c_ = connected();
    int joined_ = 0;
    std::vector<std::optional<leader_info>> told_;
};

TEST_F(LeaderObserverFaults, AnyRequestOrAnswerMayBeLost) {
    for (const auto what : {op::get, op::children, op::any}) {
        for (const auto at : {when::before, when::after}) {
            for (const int skipped : {0, 1, 2, 3}) {
                told_.clear();
                const auto first = candidate();
                ensemble_.fail_next(what, at, c_.session_id(), skipped + 1);
                {
                    const listening_observer o(c_, "/lead", notes());
                    ASSERT_TRUE(comes_to_the_last());
                    const auto second = candidate();
                    ensemble_.fail_next(what, at, c_.session_id(), skipped + 1);
                    ensemble_.remove(first);
                    ASSERT_TRUE(comes_to_the_last());
                    ensemble_.remove(second);
                    ASSERT_TRUE(comes_to(""));
                    expect_in_order();
                }
                ensemble_.run_for(1s);
            }
        }
    }
    EXPECT_LE(ensemble_.open_watches(), 2U) << "what the servers have is one a path and kind";
}

TEST_F(LeaderObserverFaults, OfTwoWithOneNumberTheOlderOneLeadsWhicheverReadIsRefused) {
    const auto make = [&](const std::string& id, const std::string& number) {
        return ensemble_.create(
            "/lead/_c_" + id + "0000000-89ab-cdef-0123-456789abcdef-latch-000000000" + number, id);
    };
    const listening_observer o(c_, "/lead", notes());
    for (int refused = 0; refused < 3; ++refused) {
        const std::string before = make("0", "1");
        const std::vector<std::string> both{make("1", "7"), make("2", "7")};
        ASSERT_TRUE(comes_to("0"));
        ensemble_.refuse_next(op::get, -127, c_.session_id(), refused);
        ensemble_.remove(before);
        ASSERT_TRUE(ensemble_.run_until([&] { return last() == "1" || last() == "2"; }, 10s));
        EXPECT_EQ(last(), "1") << refused << " reads were throttled";
        ensemble_.remove(both[0]);
        ASSERT_TRUE(comes_to("2"));
        ensemble_.remove(both[1]);
        ASSERT_TRUE(comes_to(""));
    }
}

TEST_F(LeaderObserverFaults, DirectoryThatIsRemovedIsMadeAndWatchedAgain) {
    const listening_observer o(c_, "/lead", notes());
    ASSERT_TRUE(comes_to(""));
    for (int i = 0; i < 3; ++i) {
        ensemble_.remove("/lead");
        ASSERT_TRUE(ensemble_.run_until([&] { return ensemble_.exists("/lead"); }, 10s));
        const auto leader = candidate();
        ASSERT_TRUE(comes_to_the_last());
        ensemble_.remove(leader);
        ASSERT_TRUE(comes_to(""));
    }
    settle();
    EXPECT_EQ(ensemble_.open_watches(), 2U);
}

/// Its deletion may be told between the list that shows nobody and the one that shows the next
/// leader.
TEST_F(LeaderObserverFaults, DirectoryThatIsMadeAgainIsFollowedWheneverThatHappens) {
    const listening_observer o(c_, "/lead", notes());
    const int rounds = at_every_step(
        {.of = ensemble_, .stretch = 50ms, .at_least = 500us},
        [&] {
            const auto leader = candidate();
            EXPECT_TRUE(comes_to_the_last());
            ensemble_.remove(leader);
            return leader;
        },
        [&](const std::string&) { make_anew(); },
        [&](const std::string&) { expect_followed(); });
    EXPECT_GT(rounds, 20);
}

/// It may be gone when the observer reads in it what is published.
TEST_F(LeaderObserverFaults, DirectoryThatIsRemovedTwiceIsFollowedWheneverThatHappens) {
    const listening_observer o(c_, "/lead", notes());
    const int rounds = at_every_step(
        {.of = ensemble_, .stretch = 50ms, .at_least = 500us},
        [&] {
            EXPECT_TRUE(comes_to(""));
            make_anew();
            return 0;
        },
        [&](int) { remove_directory(); },
        [&](int) {
            EXPECT_TRUE(ensemble_.run_until([&] { return ensemble_.exists("/lead"); }, 10s));
            expect_followed();
        });
    EXPECT_GT(rounds, 20);
}

TEST_F(LeaderObserverFaults, NewSessionDoesNotShowALeaderOfThePast) {
    const auto first = candidate();
    candidate();
    const listening_observer o(c_, "/lead", notes());
    ASSERT_TRUE(comes_to("1"));
    ensemble_.remove(first);
    ASSERT_TRUE(comes_to("2"));
    const int behind = (ensemble_.leader() + 1) % 3;
    ensemble_.lag(behind, 5s);
    const auto second = ensemble_.children("/lead").front();
    candidate();
    ensemble_.remove("/lead/" + second);
    ASSERT_TRUE(comes_to("3"));
    ensemble_.move(c_.session_id(), behind);
    ensemble_.expire(c_.session_id());
    ensemble_.run_for(30s);
    EXPECT_EQ(last(), "3");
    expect_in_order();
}

}  // namespace
}  // namespace latchkey::test

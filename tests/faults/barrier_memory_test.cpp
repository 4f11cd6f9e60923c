// Who hears late how a round of a double barrier has ended.
#include <latchkey/double_barrier.hpp>

#include "barrier_calls.hpp"
#include "stepped_outcome.hpp"
#include "stepped_test.hpp"

#include <algorithm>
#include <memory>
#include <system_error>
#include <vector>

namespace latchkey::test {
namespace {

/// Rounds of three, and one who hears nothing for a while when it has given its place up.
class MeetingHeardLate : public SteppedTest {
protected:
    MeetingHeardLate() {
        for (int i = 0; i < 4; ++i) {
            clients_.push_back(connected());
            all_.push_back(std::make_unique<double_barrier>(clients_.back(), "/b", 3));
        }
    }

    bool all_done(const std::vector<std::shared_ptr<outcome>>& calls) {
        return ensemble_.run_until(
            [&] {
                return std::all_of(
                    calls.begin(), calls.end(), [](const auto& o) { return o->done; });
            },
            3s);
    }

    void enter_all(const std::vector<std::size_t>& who) {
        std::vector<std::shared_ptr<outcome>> calls;
        for (const std::size_t i : who) {
            calls.push_back(enter(*all_[i], ensemble_));
        }
        ASSERT_TRUE(all_done(calls));
    }

    void leave_all(const std::vector<std::size_t>& who, std::error_code expected) {
        std::vector<std::shared_ptr<outcome>> calls;
        for (const std::size_t i : who) {
            calls.push_back(leave(*all_[i], ensemble_));
        }
        ASSERT_TRUE(all_done(calls));
        for (const auto& o : calls) {
            EXPECT_EQ(o->ec, expected);
        }
    }

    /// The first one's place is gone; it does not hear of what follows.
    std::shared_ptr<outcome> first_leaves() {
        const auto o = leave(*all_[0], ensemble_);
        ensemble_.run_for(20ms);
        EXPECT_FALSE(o->done);
        ensemble_.black_hole(clients_[0].session_id());
        return o;
    }

    void lose(std::size_t i) {
        ensemble_.expire(clients_[i].session_id());
        ensemble_.run_for(20ms);
    }

    std::shared_ptr<outcome> heard(const std::shared_ptr<outcome>& o) {
        EXPECT_FALSE(o->done);
        ensemble_.resume(clients_[0].session_id());
        EXPECT_TRUE(ensemble_.run_until([&] { return o->done; }, 60s));
        return o;
    }

    std::vector<client> clients_;
    std::vector<std::unique_ptr<double_barrier>> all_;
};

TEST_F(MeetingHeardLate, IsOverWithoutALossOnceALaterOneHasBegun) {
    enter_all({0, 1, 2});
    const auto first = first_leaves();
    lose(2);
    leave_all({2}, errc::session_lost);
    leave_all({1}, errc::participant_lost);
    enter_all({1, 2, 3});
    EXPECT_TRUE(heard(first)->passed) << first->ec.message();
    leave_all({1, 2, 3}, {});
}

TEST_F(MeetingHeardLate, IsNotTakenForALaterOneThatHasLostSomebody) {
    enter_all({0, 1, 2});
    const auto first = first_leaves();
    leave_all({1, 2}, {});
    enter_all({1, 2, 3});
    lose(3);
    leave_all({3}, errc::session_lost);
    leave_all({1, 2}, errc::participant_lost);
    enter_all({1, 2, 3});
    leave_all({1, 2, 3}, {});
    EXPECT_TRUE(heard(first)->passed) << first->ec.message();
}

/// Versions begin anew with a directory.
TEST_F(MeetingHeardLate, InADirectoryThatIsGoneIsNotTakenForOneInItsSuccessor) {
    enter_all({0, 1, 2});
    const auto first = first_leaves();
    leave_all({1, 2}, {});
    ensemble_.run_for(20ms);
    ensemble_.remove("/b");
    enter_all({1, 2, 3});
    EXPECT_TRUE(heard(first)->passed) << first->ec.message();
    ensemble_.run_for(1s);
    EXPECT_TRUE(ensemble_.exists("/b/ready")) << "three are inside";
    leave_all({1, 2, 3}, {});
}

}  // namespace
}  // namespace latchkey::test

// What a participant of a double barrier says twice, because it may not have been heard, and what
// it hears late.
#include "every_step.hpp"
#include "meeting_fixture.hpp"
#include "plain_coroutine.hpp"
#include "queued_executor.hpp"
#include "result_codes.hpp"

#include <algorithm>
#include <memory>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

using when = ensemble::when;
using op = ensemble::request_kind;

class MeetingRepeated : public MeetingTrouble {
protected:
    /// The first one is counted on by a round, and its znode is then deleted by somebody before its
    /// second create, which is none of the round's.
    struct meeting {
        MeetingRepeated& at;
        std::string path;
        double_barrier one{at.a_, path, 2};
        double_barrier two{at.b_, path, 2};
        pending first = std::make_shared<outcome>();
        std::stop_source stop = {};
        std::string own = {};
    };

    std::shared_ptr<meeting> counted_on_and_deleted(const std::string& path) {
        const std::shared_ptr<meeting> m(new meeting{*this, path});
        ensemble_.create(path);
        ensemble_.fail_next(op::create, when::after, a_.session_id(), 3);
        m->one.async_enter(for_ever, m->stop.get_token(), outcome::into(m->first, ensemble_));
        EXPECT_TRUE(comes_true([&] { return !ensemble_.children(path).empty(); }));
        m->own = path + "/" + ensemble_.children(path).front();
        ensemble_.suspend(a_.session_id());
        finish(enter(m->two));
        ensemble_.remove(m->own);
        ensemble_.resume(a_.session_id());
        return m;
    }
};

/// The own tries of a leave() do not rob it: one that waits for its time is not sent beside the one
/// that a new connection brought.
TEST_F(MeetingRepeated, LeaveIsOneAtATime) {
    double_barrier one(a_, "/b", 2);
    double_barrier two(b_, "/b", 2);
    at_every_step(
        {.of = ensemble_, .stretch = 16ms, .at_least = one_way / 4},
        [&] {
            finish_both(enter(one), enter(two));
            ensemble_.refuse_next(op::multi, throttled, a_.session_id());
            return std::pair(leave(one), leave(two));
        },
        [&](const auto&) { ensemble_.cut(a_.session_id()); },
        [&](const auto& both) { finish_both(both.first, both.second); });
}

TEST_F(MeetingRepeated, NextCreateIsNotTakenForTheOneThatARoundCountedOn) {
    const auto m = counted_on_and_deleted("/b");
    ensemble_.run_for(5s);
    EXPECT_FALSE(m->first->done) << "it has no part in that round";
    finish(leave(m->two), errc::participant_lost);
    finish_both(enter(m->two), m->first);
    EXPECT_FALSE(ensemble_.exists(m->own)) << "names are not used again";
}

/// ... of one that gives up at any moment since that create.
TEST_F(MeetingRepeated, CreateIsGivenUpForGoodThoughARoundCountedOnTheFirst) {
    int rounds = 0;
    at_every_step(
        {.of = ensemble_, .stretch = 16ms, .at_least = one_way / 4},
        [&] {
            auto m = counted_on_and_deleted("/b" + std::to_string(++rounds));
            EXPECT_TRUE(comes_true([&] { return ensemble_.exists(m->own); }));
            return m;
        },
        [&](const auto& m) { m->stop.request_stop(); },
        [&](const auto& m) {
            expect_given_up(m->first);
            const auto out = leave(m->two);
            ASSERT_TRUE(comes_true([&] { return out->done; }));
            if (rounds == 1) {
                EXPECT_EQ(out->ec, errc::participant_lost);
            }
            ensemble_.run_for(5s);
            const auto left = ensemble_.children(m->path);
            EXPECT_TRUE(left.empty()) << left.front();
        });
    EXPECT_GT(rounds, 4);
}

/// Servers that hear of each other late.
class MeetingBehind : public MeetingTrouble {
protected:
    static ensemble::options slow() {
        ensemble::options o = exact();
        o.between_servers = 100ms;
        return o;
    }

    MeetingBehind() : MeetingTrouble(slow()) {
        ensemble_.move(a_.session_id(), leader_);
        ensemble_.move(b_.session_id(), leader_);
        ensemble_.run_for(5s);
    }

    const int leader_ = ensemble_.leader();
};

/// What it has asked for is not known yet where it asks next.
TEST_F(MeetingBehind, ServerIsNotBelievedByWhoGivesUp) {
    double_barrier one(a_, "/b", 2);
    double_barrier two(b_, "/b", 2);
    const auto first = std::make_shared<outcome>();
    std::stop_source stop;
    one.async_enter(for_ever, stop.get_token(), outcome::into(first, ensemble_));
    const auto second = enter(two);
    ensemble_.run_for(1500us);  // that has arrived, and nothing has come of it yet
    ensemble_.move(a_.session_id(), (leader_ + 1) % 3);
    stop.request_stop();
    finish(second);
    finish(first);  // the other one counts on it
}

// ---- who leaves all the same ----

class MeetingThatIsLeft : public MeetingTrouble {
protected:
    double_barrier one_{a_, "/b", 2};
    double_barrier two_{b_, "/b", 2};
};

TEST_F(MeetingThatIsLeft, ByACallThatIsCanceledLosesNobody) {
    int rounds = 0;
    at_every_step(
        {.of = ensemble_, .stretch = 8ms, .at_least = one_way / 4},
        [&] {
            finish_both(enter(one_), enter(two_));
            std::stop_source stop;
            auto out = std::make_shared<outcome>();
            if (rounds++ == 0) {
                stop.request_stop();
            }
            one_.async_leave(stop.get_token(), outcome::into(out, ensemble_));
            return std::pair(stop, out);
        },
        [&](auto& out) { out.first.request_stop(); },
        [&](const auto& out) {
            expect_given_up(out.second);
            EXPECT_FALSE(one_.inside());
            finish(leave(two_));
        });
}

plain_coroutine wait_inside(double_barrier& b, bool& entered) {
    entered = co_await b.enter_async();
}

/// The result is on its way to the executor when the coroutine is destroyed.
TEST_F(MeetingThatIsLeft, ByACoroutineThatIsDestroyedLosesNobody) {
    queued_executor queue;
    client c = connected({.session_timeout = 12s, .executor = queue.executor()});
    double_barrier one(c, "/b", 2);
    bool entered = false;
    auto waits = wait_inside(one, entered);
    finish(enter(two_));
    ASSERT_TRUE(comes_true([&] { return queue.size() == 1; }));
    waits.destroy();
    queue.run_all();
    EXPECT_FALSE(entered || one.inside());
    finish(leave(two_));
    const auto again = enter(one);
    finish(enter(two_));
    EXPECT_TRUE(comes_true([&] {
        queue.run_all();
        return again->passed;
    }));
}

// ---- how a round has ended ----

/// Rounds of three, and one who hears nothing for a while when it has given its place up.
class MeetingHeardLate : public SteppedTest {
protected:
    using calls = std::vector<std::shared_ptr<outcome>>;

    MeetingHeardLate() {
        for (int i = 0; i < 4; ++i) {
            clients_.push_back(connected());
            all_.push_back(std::make_unique<double_barrier>(clients_.back(), "/b", 3));
        }
    }

    void expect_all(const calls& all, const std::error_code& expected) {
        for (const auto& o : all) {
            ASSERT_TRUE(ensemble_.run_until([&] { return o->done; }, 3s));
            EXPECT_EQ(o->ec, expected);
        }
    }

    void enter_all(const std::vector<std::size_t>& who) {
        calls all;
        for (const std::size_t i : who) {
            all.push_back(enter(*all_[i], ensemble_));
        }
        expect_all(all, {});
    }

    void leave_all(const std::vector<std::size_t>& who, const std::error_code& expected = {}) {
        calls all;
        for (const std::size_t i : who) {
            all.push_back(leave(*all_[i], ensemble_));
        }
        expect_all(all, expected);
    }

    /// The first one's place is gone; it does not hear of what follows.
    void first_leaves() {
        first_ = leave(*all_[0], ensemble_);
        ensemble_.run_for(20ms);
        EXPECT_FALSE(first_->done);
        ensemble_.black_hole(clients_[0].session_id());
    }

    void lose(std::size_t i) {
        ensemble_.expire(clients_[i].session_id());
        ensemble_.run_for(20ms);
        leave_all({i}, errc::session_lost);
    }

    void expect_that_the_first_has_left() {
        EXPECT_FALSE(first_->done);
        ensemble_.resume(clients_[0].session_id());
        EXPECT_TRUE(ensemble_.run_until([&] { return first_->done; }, 60s));
        EXPECT_TRUE(first_->passed) << first_->ec.message();
    }

    std::vector<client> clients_;
    std::vector<std::unique_ptr<double_barrier>> all_;
    std::shared_ptr<outcome> first_;
};

TEST_F(MeetingHeardLate, IsOverWithoutALossOnceALaterOneHasBegun) {
    enter_all({0, 1, 2});
    first_leaves();
    lose(2);
    leave_all({1}, errc::participant_lost);
    enter_all({1, 2, 3});
    expect_that_the_first_has_left();
    leave_all({1, 2, 3});
}

TEST_F(MeetingHeardLate, IsNotTakenForALaterOneThatHasLostSomebody) {
    enter_all({0, 1, 2});
    first_leaves();
    leave_all({1, 2});
    enter_all({1, 2, 3});
    lose(3);
    leave_all({1, 2}, errc::participant_lost);
    enter_all({1, 2, 3});
    leave_all({1, 2, 3});
    expect_that_the_first_has_left();
}

/// Versions begin anew with a directory.
TEST_F(MeetingHeardLate, InADirectoryThatIsGoneIsNotTakenForOneInItsSuccessor) {
    enter_all({0, 1, 2});
    first_leaves();
    leave_all({1, 2});
    ensemble_.run_for(20ms);
    ensemble_.remove("/b");
    enter_all({1, 2, 3});
    expect_that_the_first_has_left();
    ensemble_.run_for(1s);
    EXPECT_TRUE(ensemble_.exists("/b/ready")) << "three are inside";
    leave_all({1, 2, 3});
}

}  // namespace
}  // namespace latchkey::test

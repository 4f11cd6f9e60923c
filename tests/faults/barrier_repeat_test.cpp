// What a participant of a double barrier says twice, because it may not have been heard.
#include <latchkey/double_barrier.hpp>

#include "barrier_calls.hpp"
#include "every_step.hpp"
#include "result_codes.hpp"
#include "stepped_outcome.hpp"
#include "stepped_test.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

namespace latchkey::test {
namespace {

using when = ensemble::when;
using op = ensemble::request_kind;

class MeetingRepeated : public SteppedTest {
protected:
    bool comes_true(const std::function<bool()>& what) { return ensemble_.run_until(what, 60s); }

    client a_ = connected();
    client b_ = connected();
    double_barrier one_{a_, "/b", 2};
    double_barrier two_{b_, "/b", 2};
};

/// The own tries of a leave() do not rob it: one that waits for its time is not sent beside the one
/// that a new connection brought.
TEST_F(MeetingRepeated, LeaveIsOneAtATime) {
    at_every_step(
        {.of = ensemble_, .stretch = 16ms, .at_least = one_way / 4},
        [&] {
            const auto first = enter(one_, ensemble_);
            const auto second = enter(two_, ensemble_);
            EXPECT_TRUE(comes_true([&] { return first->done && second->done; }));
            ensemble_.refuse_next(op::multi, throttled, a_.session_id());
            return std::pair(leave(one_, ensemble_), leave(two_, ensemble_));
        },
        [&](const auto&) { ensemble_.cut(a_.session_id()); },
        [&](const auto& both) {
            const auto& [out, last] = both;
            ASSERT_TRUE(comes_true([&, o = out, l = last] { return o->done && l->done; }));
            EXPECT_TRUE(out->passed) << out->ec.message();
            EXPECT_TRUE(last->passed) << last->ec.message();
        });
}

/// Its first znode is there when the round begins, and is deleted by somebody before its second
/// create: that one is none of the round's.
TEST_F(MeetingRepeated, CreateIsNotTakenForTheOneThatARoundCountedOn) {
    ensemble_.create("/b");
    ensemble_.fail_next(op::create, when::after, a_.session_id(), 3);
    const auto first = enter(one_, ensemble_);
    ASSERT_TRUE(comes_true([&] { return !ensemble_.children("/b").empty(); }));
    const std::string own = "/b/" + ensemble_.children("/b").front();
    ensemble_.suspend(a_.session_id());
    const auto second = enter(two_, ensemble_);
    ASSERT_TRUE(comes_true([&] { return second->done; }));
    EXPECT_TRUE(second->passed);
    ensemble_.remove(own);
    ensemble_.resume(a_.session_id());
    ensemble_.run_for(5s);
    EXPECT_FALSE(first->done) << "it has no part in that round";
    const auto out = leave(two_, ensemble_);
    ASSERT_TRUE(comes_true([&] { return out->done; }));
    EXPECT_EQ(out->ec, errc::participant_lost);
    const auto again = enter(two_, ensemble_);
    ASSERT_TRUE(comes_true([&] { return first->done && again->done; }));
    EXPECT_TRUE(first->passed && again->passed);
    EXPECT_FALSE(ensemble_.exists(own)) << "names are not used again";
}

/// The same of one that gives up meanwhile.
TEST_F(MeetingRepeated, CreateIsGivenUpThoughARoundCountedOnTheFirst) {
    ensemble_.create("/b");
    ensemble_.fail_next(op::create, when::after, a_.session_id(), 3);
    const auto first = std::make_shared<outcome>();
    std::stop_source stop;
    one_.async_enter(
        std::chrono::nanoseconds::max(), stop.get_token(), outcome::into(first, ensemble_));
    ASSERT_TRUE(comes_true([&] { return !ensemble_.children("/b").empty(); }));
    const std::string own = "/b/" + ensemble_.children("/b").front();
    ensemble_.suspend(a_.session_id());
    const auto second = enter(two_, ensemble_);
    ASSERT_TRUE(comes_true([&] { return second->done; }));
    ensemble_.remove(own);
    ensemble_.resume(a_.session_id());
    ASSERT_TRUE(comes_true([&] { return ensemble_.exists(own); }));
    stop.request_stop();
    ASSERT_TRUE(comes_true([&] { return first->done; }));
    EXPECT_FALSE(first->passed);
    EXPECT_FALSE(first->ec) << first->ec.message();
    const auto out = leave(two_, ensemble_);
    ASSERT_TRUE(comes_true([&] { return out->done; }));
    EXPECT_EQ(out->ec, errc::participant_lost);
}

/// ... at any moment since that create.
TEST_F(MeetingRepeated, CreateIsGivenUpForGoodThoughARoundCountedOnTheFirst) {
    struct meeting {
        std::string path;
        std::shared_ptr<double_barrier> one;
        std::shared_ptr<double_barrier> two;
        std::shared_ptr<outcome> first = std::make_shared<outcome>();
        std::stop_source stop = {};
    };

    int rounds = 0;
    at_every_step(
        {.of = ensemble_, .stretch = 16ms, .at_least = one_way / 4},
        [&] {
            const std::string path = "/b" + std::to_string(++rounds);
            meeting m{path,
                      std::make_shared<double_barrier>(a_, path, 2),
                      std::make_shared<double_barrier>(b_, path, 2)};
            ensemble_.create(path);
            ensemble_.fail_next(op::create, when::after, a_.session_id(), 3);
            m.one->async_enter(std::chrono::nanoseconds::max(),
                               m.stop.get_token(),
                               outcome::into(m.first, ensemble_));
            EXPECT_TRUE(comes_true([&] { return !ensemble_.children(path).empty(); }));
            const std::string own = path + "/" + ensemble_.children(path).front();
            ensemble_.suspend(a_.session_id());
            const auto second = enter(*m.two, ensemble_);
            EXPECT_TRUE(comes_true([&] { return second->done; }));
            ensemble_.remove(own);
            ensemble_.resume(a_.session_id());
            EXPECT_TRUE(comes_true([&] { return ensemble_.exists(own); }));
            return m;
        },
        [&](meeting& m) { m.stop.request_stop(); },
        [&](meeting& m) {
            ASSERT_TRUE(comes_true([&] { return m.first->done; }));
            EXPECT_FALSE(m.first->passed);
            EXPECT_FALSE(m.first->ec) << m.first->ec.message();
            const auto out = leave(*m.two, ensemble_);
            ASSERT_TRUE(comes_true([&] { return out->done; }));
            ensemble_.run_for(5s);
            const auto left = ensemble_.children(m.path);
            EXPECT_TRUE(left.empty()) << left.front();
        });
    EXPECT_GT(rounds, 4);
}

/// Servers that hear of each other late.
class MeetingBehind : public SteppedTest {
protected:
    static ensemble::options slow() {
        ensemble::options o = exact();
        o.between_servers = 100ms;
        return o;
    }

    MeetingBehind() : SteppedTest(slow()) {
        ensemble_.move(a_.session_id(), leader_);
        ensemble_.move(b_.session_id(), leader_);
        ensemble_.run_for(5s);
    }

    client a_ = connected();
    client b_ = connected();
    const int leader_ = ensemble_.leader();
};

/// What it has asked for is not known yet where it asks next.
TEST_F(MeetingBehind, ServerIsNotBelievedByWhoGivesUp) {
    double_barrier one(a_, "/b", 2);
    double_barrier two(b_, "/b", 2);
    const auto first = std::make_shared<outcome>();
    std::stop_source stop;
    one.async_enter(
        std::chrono::nanoseconds::max(), stop.get_token(), outcome::into(first, ensemble_));
    const auto second = enter(two, ensemble_);
    ensemble_.run_for(1500us);  // that has arrived, and nothing has come of it yet
    ensemble_.move(a_.session_id(), (leader_ + 1) % 3);
    stop.request_stop();
    ASSERT_TRUE(ensemble_.run_until([&] { return first->done && second->done; }, 60s));
    EXPECT_TRUE(second->passed);
    EXPECT_TRUE(first->passed) << "the other one counts on it";
}

}  // namespace
}  // namespace latchkey::test

#include <latchkey/barrier.hpp>
#include <latchkey/double_barrier.hpp>
#include <latchkey/group.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/multi_mutex.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/recursive_mutex.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/shared_mutex.hpp>

#include "eventually.hpp"
#include "stepped_outcome.hpp"
#include "stepped_test.hpp"
#include "unreachable_calls.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

// What the table in unreachable_test.cpp has no room for: candidates, blocking calls, messages.

namespace latchkey::test {
namespace {

using std::chrono::nanoseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

// ---- candidates ----

class WaitingCandidate : public SteppedTest {
protected:
    WaitingCandidate() {
        theirs_.start();
        EXPECT_TRUE(ensemble_.run_until([&] { return theirs_.is_leader(); }, 10s));
        ours_.start();
        EXPECT_TRUE(ensemble_.run_until([&] { return in_queue("/e") == 2; }, 10s));
        ensemble_.run_for(100ms);
    }

    std::shared_ptr<outcome> wait(nanoseconds within) {
        auto o = std::make_shared<outcome>();
        ours_.async_wait(within, {}, [in = outcome::into(o, ensemble_)](auto ec, const auto& l) {
            in(ec, !!l);
        });
        return o;
    }

    client b_ = connected();
    client a_ = connected();
    leader_latch theirs_{b_, "/e"};
    leader_latch ours_{a_, "/e"};
};

TEST_F(WaitingCandidate, WaitsEmptyWithoutAServerIfItWasInTheQueueBefore) {
    stop_all(ensemble_);
    const auto o = wait(3s);
    const auto begun = ensemble_.now();
    const auto t = wait(0s);
    ASSERT_TRUE(ensemble_.run_until([&] { return o->done; }, 60s));
    EXPECT_FALSE(o->ec) << o->ec.message();
    EXPECT_FALSE(t->ec) << t->ec.message();
    EXPECT_EQ(t->at, begun);
}

TEST_F(WaitingCandidate, IsUnreachableWithoutAServerIfItHasLostItsPlace) {
    for (const std::string& name : ensemble_.children("/e")) {
        if ("/e/" + name != theirs_.term().path()) {
            ensemble_.remove("/e/" + name);
        }
    }
    ensemble_.reset_counters();
    ASSERT_TRUE(
        ensemble_.run_until([&] { return ensemble_.count(a_.session_id()).creates > 0; }, 1s))
        << "it joins again";
    stop_all(ensemble_);
    const auto o = wait(3s);
    ASSERT_TRUE(ensemble_.run_until([&] { return o->done; }, 60s));
    EXPECT_EQ(o->ec, errc::unreachable) << o->ec.message();
}

// ---- blocking ----

/// All blocking forms behave as the asynchronous ones do: no server, and a time_limit.
TEST(BlockingCalls, AreUnreachableAtTheirLimitWithoutAServer) {
    ensemble e;
    stop_all(e);
    client c = e.connect();
    constexpr auto soon = 20ms;
    mutex m(c, "/lock");
    recursive_mutex r(c, "/lock");
    multi_mutex all(c, {"/lock", "/more"});
    shared_mutex rw(c, "/rw");
    semaphore s(c, "/s", 2);
    barrier b(c, "/b");
    double_barrier both(c, "/d", 2);
    group g(c, "/g");
    leader_latch l(c, "/e");
    using lock_mode::shared;
    const auto later = [&] { return std::chrono::steady_clock::now() + soon; };
    const std::vector<std::function<void()>> calls{
        [&] { static_cast<void>(m.try_acquire_for(soon)); },
        [&] { static_cast<void>(m.try_acquire_until(later())); },
        [&] { static_cast<void>(m.try_lock_for(soon)); },
        [&] { static_cast<void>(r.try_lock_for(soon)); },
        [&] { static_cast<void>(all.try_acquire_for(soon)); },
        [&] { static_cast<void>(rw.try_acquire_for(shared, soon)); },
        [&] { static_cast<void>(rw.try_lock_shared_for(soon)); },
        [&] { static_cast<void>(s.try_acquire_for(2, soon)); },
        [&] { static_cast<void>(b.wait_for(soon)); },
        [&] { static_cast<void>(both.enter_for(soon)); },
        [&] { static_cast<void>(g.join_for("name", soon)); },
        [&] { static_cast<void>(l.wait_for(soon)); },
        [&] { static_cast<void>(l.wait_until(later())); }};
    for (std::size_t i = 0; i < calls.size(); ++i) {
        try {
            calls[i]();
            ADD_FAILURE() << "call " << i << " reports nothing";
        } catch (const error& why) {
            EXPECT_EQ(why.code(), errc::unreachable) << "call " << i << ": " << why.what();
        }
    }
    std::error_code ec;
    EXPECT_FALSE(m.try_acquire_for(soon, {}, ec));
    EXPECT_EQ(ec, errc::unreachable);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_FALSE(m.acquire({.stop = stop.get_token(), .reserved = nullptr}));
    EXPECT_FALSE(b.wait(stop.get_token()));
    EXPECT_FALSE(l.wait(stop.get_token()));
}

TEST(BlockingCalls, SayWhatFailedWhereWhyAndWhatToDo) {
    client c = client::connect("127.0.0.1:1");
    ASSERT_TRUE(eventually([&] { return !c.last_error().empty(); }));
    mutex m(c, "/lock");
    leader_latch l(c, "/e");
    barrier b(c, "/b");
    const std::vector<std::pair<std::function<void()>, std::string>> calls{
        {[&] { static_cast<void>(m.try_acquire_for(20ms)); }, "cannot acquire \"/lock\" in time"},
        {[&] { static_cast<void>(l.wait_for(20ms)); },
         "cannot become the leader of \"/e\" in time"},
        {[&] { static_cast<void>(b.wait_for(20ms)); }, "cannot pass the barrier \"/b\" in time"}};
    for (const auto& [call, what] : calls) {
        try {
            call();
            ADD_FAILURE() << what << ": reports nothing";
        } catch (const error& why) {
            EXPECT_EQ(why.code(), errc::unreachable);
            EXPECT_THAT(why.what(),
                        AllOf(HasSubstr(what), HasSubstr("127.0.0.1:1"), HasSubstr("check")));
        }
    }
}

}  // namespace
}  // namespace latchkey::test

#include <latchkey/barrier.hpp>
#include <latchkey/double_barrier.hpp>
#include <latchkey/group.hpp>

#include "barrier_calls.hpp"
#include "stepped_outcome.hpp"
#include "stepped_test.hpp"

#include <memory>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

constexpr auto for_ever = std::chrono::nanoseconds::max();

/// What the headers of barriers and groups say of requests and events, counted by the servers.
class MeetingCost : public SteppedTest {
protected:
    using pending = std::shared_ptr<outcome>;

    pending enter(double_barrier& b) { return test::enter(b, ensemble_); }

    pending leave(double_barrier& b) { return test::leave(b, ensemble_); }

    void finish(const pending& o) {
        ASSERT_TRUE(ensemble_.run_until([&] { return o->done; }, 10s));
        EXPECT_TRUE(o->passed) << o->ec.message();
    }

    void add_participants(std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) {
            clients_.push_back(std::make_unique<client>(connected()));
            all_.push_back(std::make_unique<double_barrier>(*clients_.back(), "/b", count));
        }
    }

    /// One round, so that everybody knows the directory; then all but the last are waiting.
    std::vector<pending> all_but_one_wait() {
        std::vector<pending> calls;
        for (const auto& b : all_) {
            calls.push_back(enter(*b));
        }
        for (const auto& o : calls) {
            finish(o);
        }
        calls.clear();
        for (const auto& b : all_) {
            calls.push_back(leave(*b));
        }
        for (const auto& o : calls) {
            finish(o);
        }
        calls.clear();
        for (std::size_t i = 0; i + 1 < all_.size(); ++i) {
            calls.push_back(enter(*all_[i]));
        }
        settle();
        return calls;
    }

    testing::counters count(std::size_t i) { return ensemble_.count(clients_[i]->session_id()); }

    membership join(group& g, const std::string& name) {
        const auto joined = std::make_shared<membership>();
        bool done = false;
        g.async_join(name,
                     for_ever,
                     {.data = "x", .stop = {}},
                     [joined, &done](std::error_code ec, membership m) {
                         EXPECT_FALSE(ec) << ec.message();
                         *joined = std::move(m);
                         done = true;
                     });
        EXPECT_TRUE(ensemble_.run_until([&] { return done; }, 10s));
        return std::move(*joined);
    }

    std::vector<std::unique_ptr<client>> clients_;
    std::vector<std::unique_ptr<double_barrier>> all_;
};

TEST_F(MeetingCost, WaitForABarrierIsTwoRequestsInOneRoundTripAndOneEvent) {
    client c = connected();
    barrier b(c, "/b");
    ensemble_.create("/b");
    settle();
    const auto o = std::make_shared<outcome>();
    b.async_wait(for_ever, {}, outcome::into(o, ensemble_));
    ensemble_.run_for(100ms);
    EXPECT_EQ(ensemble_.count().checks, 1U) << "ahead of the look";
    ensemble_.run_for(5s);
    EXPECT_FALSE(o->done);
    EXPECT_EQ(ensemble_.count().requests(), 1U);
    const auto removed = ensemble_.now();
    ensemble_.remove("/b");
    finish(o);
    EXPECT_LE(o->at - removed, round_trip);
    EXPECT_EQ(ensemble_.count().requests(), 1U);
    EXPECT_EQ(ensemble_.count().watch_events, 1U);

    const auto begin = ensemble_.now();
    const auto again = std::make_shared<outcome>();
    b.async_wait(for_ever, {}, outcome::into(again, ensemble_));
    finish(again);
    EXPECT_EQ(again->at - begin, round_trip);
}

TEST_F(MeetingCost, LastEntrantTakesFiveRequestsInTwoRoundTripsAndTheOthersAnEventEach) {
    add_participants(4);
    const auto waiting = all_but_one_wait();
    const auto begin = ensemble_.now();
    const auto last = enter(*all_.back());
    finish(last);
    EXPECT_EQ(last->at - begin, 2 * round_trip);
    EXPECT_EQ(count(3).creates, 1U);
    EXPECT_EQ(count(3).children, 1U);
    EXPECT_EQ(count(3).gets, 2U);
    EXPECT_EQ(count(3).multis, 1U);
    EXPECT_EQ(count(3).requests(), 5U);
    int keep_watch = 0;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
        finish(waiting[i]);
        if (count(i).watch_events > 1) {
            ++keep_watch;
            continue;
        }
        EXPECT_EQ(waiting[i]->at - last->at, round_trip) << "an event, and a look";
        EXPECT_EQ(count(i).watch_events, 1U);
        EXPECT_EQ(count(i).children, 1U);
        EXPECT_EQ(count(i).gets, 2U);
        EXPECT_EQ(count(i).requests(), 3U);
    }
    EXPECT_GE(keep_watch, 1);
    EXPECT_LE(keep_watch, 2) << "and one that did before, once more";
}

TEST_F(MeetingCost, EntrantsOfARoundDoNotAllHearOfEachOther) {
    constexpr std::uint32_t n = 60;
    add_participants(n);
    auto calls = all_but_one_wait();
    for (const auto& o : calls) {
        EXPECT_FALSE(o->done);
    }
    calls.push_back(enter(*all_.back()));
    for (const auto& o : calls) {
        finish(o);
    }
    calls.clear();
    for (const auto& b : all_) {
        calls.push_back(leave(*b));
    }
    for (const auto& o : calls) {
        finish(o);
    }
    settle();
    calls.clear();
    for (const auto& b : all_) {
        calls.push_back(enter(*b));
        ensemble_.run_for(20ms);  // one after the other, so that each can be heard of
    }
    for (const auto& o : calls) {
        finish(o);
    }
    EXPECT_LT(ensemble_.count().children, 5 * n) << "not n * n / 2";
    EXPECT_LT(ensemble_.count().watch_events, 5 * n);
    EXPECT_LT(ensemble_.count().requests(), 16 * n);
}

TEST_F(MeetingCost, LastOneToLeaveTakesFiveRequestsInTwoRoundTrips) {
    add_participants(3);
    auto calls = all_but_one_wait();
    calls.push_back(enter(*all_.back()));
    for (const auto& o : calls) {
        finish(o);
    }
    const auto first = leave(*all_[0]);
    const auto second = leave(*all_[1]);
    settle();
    const auto begin = ensemble_.now();
    const auto last = leave(*all_[2]);
    finish(last);
    EXPECT_EQ(last->at - begin, 2 * round_trip);
    finish(first);
    finish(second);
    ensemble_.run_for(100ms);
    EXPECT_EQ(count(2).multis, 2U);
    EXPECT_EQ(count(2).requests(), 5U);
    EXPECT_EQ(count(0).watch_events, 1U);
    EXPECT_TRUE(ensemble_.children("/b").empty());
}

TEST_F(MeetingCost, LeavingOneAfterTheOtherIsNoHerd) {
    constexpr std::uint32_t n = 24;
    add_participants(n);
    auto calls = all_but_one_wait();
    calls.push_back(enter(*all_.back()));
    for (const auto& o : calls) {
        finish(o);
    }
    calls.clear();
    settle();
    for (const auto& b : all_) {
        calls.push_back(leave(*b));
        ensemble_.run_for(100ms);
    }
    for (const auto& o : calls) {
        finish(o);
    }
    // n * n / 2 if all watched the same one; n * (1 + 1/2 + ... + 1/n) are to be expected.
    EXPECT_LT(ensemble_.count().children, n * n / 3);
    EXPECT_GT(ensemble_.count().children, n);
}

TEST_F(MeetingCost, JoinCostsAWatcherOneEventOneListAndOneRead) {
    client joiner = connected();
    client watcher = connected();
    client member_only = connected();
    group joined(joiner, "/g");
    group watched(watcher, "/g");
    group quiet(member_only, "/g");
    const membership present = join(quiet, "quiet");
    const membership before = join(joined, "before");
    int told = 0;
    const subscription s = watched.on_change([&](const auto&) { ++told; });
    settle();
    EXPECT_EQ(told, 1);

    const auto begin = ensemble_.now();
    membership m = join(joined, "new");
    EXPECT_EQ(ensemble_.now() - begin, round_trip);
    settle();
    EXPECT_EQ(told, 2);
    membership next = join(joined, "newer");
    ensemble_.run_for(100ms);
    EXPECT_EQ(told, 3);
    testing::counters n = ensemble_.count(watcher.session_id());
    EXPECT_EQ(n.watch_events, 1U);
    EXPECT_EQ(n.children, 1U);
    EXPECT_EQ(n.gets, 1U);
    EXPECT_EQ(n.requests(), 2U);
    EXPECT_EQ(ensemble_.count(member_only.session_id()).watch_events, 0U);
    EXPECT_EQ(ensemble_.count(member_only.session_id()).requests(), 0U);
    EXPECT_EQ(ensemble_.count(joiner.session_id()).gets, 1U) << "its own, with a watch";

    settle();
    next.leave();
    ensemble_.run_for(100ms);
    n = ensemble_.count(watcher.session_id());
    EXPECT_EQ(told, 4);
    EXPECT_EQ(n.watch_events, 2U);
    EXPECT_EQ(n.requests(), 1U);

    settle();
    m.set_data("other");
    ensemble_.run_for(100ms);
    n = ensemble_.count(watcher.session_id());
    EXPECT_EQ(told, 5);
    EXPECT_EQ(n.watch_events, 1U);
    EXPECT_EQ(n.gets, 1U);
    EXPECT_EQ(n.requests(), 1U);
}

TEST_F(MeetingCost, JoinsWithinAPauseCostAWatcherOneListTogether) {
    client joiner = connected();
    client watcher = connected();
    group joined(joiner, "/g");
    group watched(watcher, "/g", {.access = {}, .coalesce_for = 5s});
    std::size_t seen = 0;
    const subscription s = watched.on_change([&](const auto& all) { seen = all.size(); });
    std::vector<membership> all;
    all.push_back(join(joined, "first"));
    ensemble_.run_for(20s);
    settle();
    for (int i = 0; i < 20; ++i) {
        all.push_back(join(joined, "m" + std::to_string(i)));
    }
    ensemble_.run_for(10s);
    EXPECT_EQ(seen, 21U);
    EXPECT_EQ(ensemble_.count(watcher.session_id()).children, 1U);
    EXPECT_EQ(ensemble_.count(watcher.session_id()).watch_events, 1U);
    EXPECT_EQ(ensemble_.count(watcher.session_id()).gets, 20U);
}

}  // namespace
}  // namespace latchkey::test

#include <latchkey/barrier.hpp>
#include <latchkey/double_barrier.hpp>

#include "barrier_calls.hpp"
#include "cost_test.hpp"
#include "stepped_outcome.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

/// What the headers of barriers and groups say of requests and events.
class MeetingCost : public CostTest {
protected:
    using pending = std::shared_ptr<outcome>;

    pending wait(barrier& b) {
        auto o = std::make_shared<outcome>();
        b.async_wait(without_limit, {}, outcome::into(o, ensemble_));
        return o;
    }

    pending enter(double_barrier& b) { return test::enter(b, ensemble_); }

    pending leave(double_barrier& b) { return test::leave(b, ensemble_); }

    /// And events, however many watches there are.
    std::string requests_of(const client& c) {
        testing::counters n = count(c);
        n.watches_set = 0;
        return described(n);
    }

    void add_participants(std::uint32_t number) {
        for (std::uint32_t i = 0; i < number; ++i) {
            clients_.push_back(std::make_unique<client>(connected()));
            all_.push_back(std::make_unique<double_barrier>(*clients_.back(), "/b", number));
        }
    }

    void all_pass(const std::vector<pending>& calls) {
        for (const pending& o : calls) {
            EXPECT_TRUE(finished(o)->passed);
        }
    }

    /// One after the other, so that each can be heard of, if there is a pause between them.
    std::vector<pending> all_enter(std::chrono::nanoseconds pause = {}) {
        std::vector<pending> calls;
        for (const auto& b : all_) {
            calls.push_back(enter(*b));
            ensemble_.run_for(pause);
        }
        return calls;
    }

    std::vector<pending> all_leave(std::chrono::nanoseconds pause = {}) {
        std::vector<pending> calls;
        for (const auto& b : all_) {
            calls.push_back(leave(*b));
            ensemble_.run_for(pause);
        }
        return calls;
    }

    /// One round, so that everybody knows the directory; then all but the last are waiting.
    std::vector<pending> all_but_one_wait() {
        all_pass(all_enter());
        all_pass(all_leave());
        std::vector<pending> calls;
        for (std::size_t i = 0; i + 1 < all_.size(); ++i) {
            calls.push_back(enter(*all_[i]));
        }
        settle();
        return calls;
    }

    std::vector<std::unique_ptr<client>> clients_;
    std::vector<std::unique_ptr<double_barrier>> all_;
};

TEST_F(MeetingCost, WaitForABarrierIsTwoRequestsInOneRoundTripAndOneEvent) {
    client c = connected();
    barrier b(c, "/b");
    ensemble_.create("/b");
    settle();
    const pending waiting = wait(b);
    ensemble_.run_for(100ms);
    EXPECT_EQ(ensemble_.count().checks, 1U) << "ahead of the look";
    ensemble_.run_for(5s);
    EXPECT_FALSE(waiting->done);
    EXPECT_EQ(ensemble_.count().requests(), 1U);
    begin_counting();
    ensemble_.remove("/b");
    all_pass({waiting});
    EXPECT_LE(took(waiting), round_trip);
    EXPECT_EQ(spent(), described({.watch_events = 1}));

    begin_counting();
    const pending again = wait(b);
    all_pass({again});
    EXPECT_EQ(took(again), round_trip);
}

TEST_F(MeetingCost, LastEntrantTakesFiveRequestsInTwoRoundTripsAndTheOthersAnEventEach) {
    add_participants(4);
    const auto waiting = all_but_one_wait();
    const pending last = enter(*all_.back());
    all_pass({last});
    EXPECT_EQ(took(last), 2 * round_trip);
    const std::string by_last = requests_of(*clients_.back());
    EXPECT_TRUE(by_last.starts_with("create 1 get 2 list 1 multi 1 ")) << by_last;
    EXPECT_EQ(count(*clients_.back()).requests(), 5U);
    int keep_watch = 0;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
        all_pass({waiting[i]});
        if (count(*clients_[i]).watch_events > 1) {
            ++keep_watch;
            continue;
        }
        EXPECT_EQ(waiting[i]->at - last->at, round_trip) << "an event, and a look";
        EXPECT_EQ(requests_of(*clients_[i]), "get 2 list 1 event 1 ");
    }
    EXPECT_GE(keep_watch, 1);
    EXPECT_LE(keep_watch, 2) << "and one that did before, once more";
}

TEST_F(MeetingCost, EntrantsOfARoundDoNotAllHearOfEachOther) {
    constexpr std::uint32_t n = 60;
    add_participants(n);
    const auto waiting = all_but_one_wait();
    for (const pending& o : waiting) {
        EXPECT_FALSE(o->done);
    }
    all_pass({enter(*all_.back())});
    all_pass(waiting);
    all_pass(all_leave());
    settle();
    all_pass(all_enter(20ms));
    EXPECT_LT(ensemble_.count().children, 5 * n) << "not n * n / 2";
    EXPECT_LT(ensemble_.count().watch_events, 5 * n);
    EXPECT_LT(ensemble_.count().requests(), 16 * n);
}

TEST_F(MeetingCost, LastOneToLeaveTakesFiveRequestsInTwoRoundTrips) {
    add_participants(3);
    const auto calls = all_but_one_wait();
    all_pass({enter(*all_.back())});
    all_pass(calls);
    const pending first = leave(*all_[0]);
    const pending second = leave(*all_[1]);
    settle();
    const pending last = leave(*all_[2]);
    all_pass({last});
    EXPECT_EQ(took(last), 2 * round_trip);
    all_pass({first, second});
    ensemble_.run_for(100ms);
    EXPECT_EQ(count(*clients_[2]).multis, 2U);
    EXPECT_EQ(count(*clients_[2]).requests(), 5U);
    EXPECT_EQ(count(*clients_[0]).watch_events, 1U);
    EXPECT_TRUE(ensemble_.children("/b").empty());
}

TEST_F(MeetingCost, LeavingOneAfterTheOtherIsNoHerd) {
    constexpr std::uint32_t n = 24;
    add_participants(n);
    const auto calls = all_but_one_wait();
    all_pass({enter(*all_.back())});
    all_pass(calls);
    settle();
    all_pass(all_leave(100ms));
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
    const auto expect_told = [&](int times, const char* cost) {
        ensemble_.run_for(100ms);
        EXPECT_EQ(told, times);
        EXPECT_EQ(requests_of(watcher), cost);
    };
    membership next = join(joined, "newer");
    expect_told(3, "get 1 list 1 event 1 ");
    EXPECT_EQ(spent(member_only), "");
    EXPECT_EQ(count(joiner).gets, 1U) << "its own, with a watch";

    settle();
    next.leave();
    expect_told(4, "list 1 event 2 ");

    settle();
    m.set_data("other");
    expect_told(5, "get 1 event 1 ");
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
    EXPECT_EQ(count(watcher).children, 1U);
    EXPECT_EQ(count(watcher).watch_events, 1U);
    EXPECT_EQ(count(watcher).gets, 20U);
}

}  // namespace
}  // namespace latchkey::test

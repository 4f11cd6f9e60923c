#include <latchkey/shared_mutex.hpp>

#include "stepped_test.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

using enum lock_mode;

/// What shared_mutex.hpp says of requests and round trips, counted by the servers.
class SharedCost : public SteppedTest {
protected:
    using attempts = std::vector<std::shared_ptr<attempt>>;

    /// Readers of several clients, all in the queue.
    attempts readers(std::vector<std::unique_ptr<shared_mutex>>& objects, std::size_t count) {
        attempts all;
        for (std::size_t i = 0; i < count; ++i) {
            all.push_back(acquire_as(*objects[i % objects.size()], shared));
        }
        ensemble_.run_for(500ms);
        return all;
    }

    static bool all_done(const attempts& all) {
        return std::all_of(all.begin(), all.end(), [](const auto& a) { return a->done; });
    }

    static bool none_done(const attempts& all) {
        return std::none_of(all.begin(), all.end(), [](const auto& a) { return a->done; });
    }

    std::vector<std::unique_ptr<shared_mutex>> objects(std::size_t clients) {
        std::vector<std::unique_ptr<shared_mutex>> all;
        for (std::size_t i = 0; i < clients; ++i) {
            clients_.push_back(connected());
            all.push_back(std::make_unique<shared_mutex>(clients_.back(), "/files"));
        }
        return all;
    }

    std::vector<client> clients_;
};

TEST_F(SharedCost, UncontendedAcquireOfEveryModeIsTwoRequestsInOneRoundTrip) {
    client c = connected();
    shared_mutex m(c, "/files");
    held(m, shared).release();
    for (const lock_mode mode : {shared, upgrade, exclusive}) {
        settle();
        const auto before = ensemble_.now();
        const auto a = acquire_as(m, mode);
        ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 1s)) << to_string(mode);
        EXPECT_EQ(a->at - before, round_trip) << to_string(mode);
        EXPECT_EQ(ensemble_.count().requests(), 2U) << to_string(mode);
        a->granted.release();
    }
}

TEST_F(SharedCost, OneReleaseOfAWriterGrantsAThousandReadersWithoutAList) {
    auto all = objects(10);
    hold w = held(*all.front(), exclusive);
    const attempts waiting = readers(all, 1'000);
    ASSERT_TRUE(none_done(waiting));
    settle();
    w.release();
    ASSERT_TRUE(ensemble_.run_until([&] { return all_done(waiting); }, 5s));
    const testing::counters n = ensemble_.count();
    EXPECT_EQ(n.removes, 1U);
    EXPECT_EQ(n.children, 0U) << "the last lists have proven who is next";
    EXPECT_EQ(n.requests(), 1U);
    for (const auto& a : waiting) {
        EXPECT_TRUE(a->granted.valid());
    }
}

TEST_F(SharedCost, WriterThatGivesUpWakesOnlyTheRunOfReadersBehindIt) {
    auto all = objects(4);
    hold w = held(*all.front(), exclusive);
    const attempts before = readers(all, 8);
    std::stop_source stop;
    const auto between = acquire_as(
        *all.back(), exclusive, std::chrono::nanoseconds::max(), {.stop = stop.get_token()});
    ensemble_.run_for(500ms);
    const attempts behind = readers(all, 6);
    const auto last = acquire_as(*all.back(), exclusive);
    ensemble_.run_for(500ms);
    settle();
    stop.request_stop();
    ASSERT_TRUE(ensemble_.run_until([&] { return between->done; }, 5s));
    ensemble_.run_for(100ms);
    EXPECT_EQ(ensemble_.count().children, 6U) << "one list a reader behind it";
    EXPECT_TRUE(none_done(before) && none_done(behind));
    settle();
    w.release();
    ASSERT_TRUE(ensemble_.run_until([&] { return all_done(before) && all_done(behind); }, 5s));
    EXPECT_EQ(ensemble_.count().children, 0U);
    EXPECT_FALSE(last->done);
}

TEST_F(SharedCost, EventsReachTheRunOfReadersBehindAWriterAndNobodyElse) {
    constexpr std::size_t run = 4;
    auto all = objects(2 + 2 * run + 2);
    const auto events = [this](std::size_t first, std::size_t count) {
        std::vector<std::uint64_t> each;
        for (std::size_t i = first; i < first + count; ++i) {
            each.push_back(ensemble_.count(clients_[i].session_id()).watch_events);
        }
        return each;
    };
    const std::vector<std::uint64_t> none(run, 0U);
    const std::vector<std::uint64_t> one(run, 1U);
    std::size_t next = 0;
    const auto join = [&](lock_mode m, std::stop_token stop = {}) {
        auto a =
            acquire_as(*all[next++], m, std::chrono::nanoseconds::max(), {.stop = std::move(stop)});
        ensemble_.run_for(20ms);
        return a;
    };
    std::stop_source gives_up;
    const auto writer = join(exclusive);
    attempts nearer;
    attempts farther;
    for (std::size_t i = 0; i < run; ++i) {
        nearer.push_back(join(shared));
    }
    const auto between = join(exclusive, gives_up.get_token());
    for (std::size_t i = 0; i < run; ++i) {
        farther.push_back(join(shared));
    }
    const auto behind = join(exclusive);
    const auto last = join(exclusive);

    settle();
    gives_up.request_stop();
    ASSERT_TRUE(ensemble_.run_until([&] { return between->done; }, 5s));
    ensemble_.run_for(100ms);
    EXPECT_EQ(events(0, 1 + run), std::vector<std::uint64_t>(1 + run, 0U)) << "ahead of it";
    EXPECT_EQ(events(2 + run, run), one) << "the run behind it";
    EXPECT_EQ(events(2 + 2 * run, 2), std::vector<std::uint64_t>(2, 0U)) << "writers later";
    EXPECT_TRUE(none_done(nearer) && none_done(farther));

    settle();
    writer->granted.release();
    ASSERT_TRUE(ensemble_.run_until([&] { return all_done(nearer) && all_done(farther); }, 5s));
    ensemble_.run_for(100ms);
    EXPECT_EQ(events(1, run), one);
    EXPECT_EQ(events(2 + run, run), one) << "both runs are one now";
    EXPECT_EQ(events(2 + 2 * run, 2), std::vector<std::uint64_t>(2, 0U));

    settle();
    for (const auto& a : nearer) {
        a->granted.release();
    }
    ensemble_.run_for(100ms);
    EXPECT_EQ(events(2 + run, run), none);
    EXPECT_EQ(events(2 + 2 * run, 2), std::vector<std::uint64_t>(2, 0U));
    for (const auto& a : farther) {
        a->granted.release();
    }
    ASSERT_TRUE(ensemble_.run_until([&] { return behind->done; }, 5s));
    EXPECT_EQ(events(2 + 2 * run, 2), (std::vector<std::uint64_t>{1U, 0U}));
    EXPECT_FALSE(last->done);
}

TEST_F(SharedCost, EachConversionCostsWhatItsHeaderSays) {
    struct step {
        lock_mode from;
        lock_mode to;
        std::uint64_t requests;
        int round_trips;
    };

    client c = connected();
    shared_mutex m(c, "/files");
    for (const step s : {step{exclusive, upgrade, 0, 0},
                         step{exclusive, shared, 1, 1},
                         step{upgrade, shared, 1, 1},
                         step{upgrade, exclusive, 1, 1}}) {
        hold h = held(m, s.from);
        settle();
        const auto before = ensemble_.now();
        ensemble::duration converted{};
        bool done = false;
        m.async_convert(std::move(h),
                        s.to,
                        std::chrono::nanoseconds::max(),
                        {},
                        [&](std::error_code ec, hold got) {
                            EXPECT_FALSE(ec) << ec.message();
                            EXPECT_EQ(got.mode(), s.to);
                            converted = ensemble_.now();
                            done = true;
                            h = std::move(got);
                        });
        ASSERT_TRUE(ensemble_.run_until([&] { return done; }, 5s));
        EXPECT_EQ(converted - before, s.round_trips * round_trip) << to_string(s.to);
        EXPECT_EQ(ensemble_.count().requests(), s.requests) << to_string(s.to);
        h.release();
        settle();
    }
    hold h = held(m, shared);
    settle();
    const auto before = ensemble_.now();
    ensemble::duration converted{};
    m.async_convert(
        std::move(h), upgrade, std::chrono::nanoseconds::max(), {}, [&](std::error_code, hold got) {
            EXPECT_EQ(got.mode(), upgrade);
            converted = ensemble_.now();
            h = std::move(got);
        });
    ASSERT_TRUE(ensemble_.run_until([&] { return converted != ensemble::duration{}; }, 5s));
    EXPECT_EQ(converted - before, 2 * round_trip);
}

TEST_F(SharedCost, DowngradeIsOneRequestAndGrantsTheReadersBehind) {
    auto all = objects(3);
    hold w = held(*all.front(), exclusive);
    const attempts waiting = readers(all, 6);
    settle();
    const auto before = ensemble_.now();
    ensemble::duration converted{};
    hold reading;
    all.front()->async_convert(
        std::move(w), shared, std::chrono::nanoseconds::max(), {}, [&](std::error_code ec, hold h) {
            EXPECT_FALSE(ec) << ec.message();
            reading = std::move(h);
            converted = ensemble_.now();
        });
    ASSERT_TRUE(ensemble_.run_until([&] { return reading && all_done(waiting); }, 5s));
    EXPECT_EQ(converted - before, round_trip);
    const testing::counters n = ensemble_.count();
    EXPECT_EQ(n.multis, 1U);
    EXPECT_EQ(n.children, 0U);
    EXPECT_EQ(reading.mode(), shared);
}

TEST_F(SharedCost, DowngradeWhoseAnswerIsLostIsFoundDone) {
    for (const auto when : {ensemble::when::before, ensemble::when::after}) {
        client c = connected();
        shared_mutex m(c, "/files");
        hold w = held(m, exclusive);
        ensemble_.fail_next(ensemble::request_kind::multi, when, c.session_id());
        bool done = false;
        m.async_convert(std::move(w),
                        shared,
                        std::chrono::nanoseconds::max(),
                        {},
                        [&](std::error_code ec, hold h) {
                            done = true;
                            EXPECT_FALSE(ec) << ec.message();
                            EXPECT_TRUE(h.valid());
                            EXPECT_EQ(h.mode(), shared);
                            EXPECT_TRUE(ensemble_.exists(h.path()));
                            EXPECT_EQ(ensemble_.children("/files").size(), 1U);
                        });
        ASSERT_TRUE(ensemble_.run_until([&] { return done; }, 10s));
        ASSERT_TRUE(ensemble_.run_until([&] { return ensemble_.children("/files").empty(); }, 10s));
    }
}

TEST_F(SharedCost, HoldReleasedWhileItsDowngradeIsUnresolvedLeavesNothing) {
    client c = connected();
    shared_mutex m(c, "/files");
    hold w = held(m, exclusive);
    ensemble_.run_for(12s);  // the connect is old by then
    ensemble_.fail_next(ensemble::request_kind::multi, ensemble::when::after, c.session_id());
    const std::int64_t session = c.session_id();
    bool done = false;
    m.async_convert(std::move(w),
                    shared,
                    std::chrono::nanoseconds::max(),
                    {},
                    [&](std::error_code, const hold&) { done = true; });
    ensemble_.run_for(1ms);
    ensemble_.suspend(session);
    ensemble_.run_for(8s);  // the deadline passes
    EXPECT_TRUE(done) << "told that it is lost";
    ensemble_.resume(session);
    ASSERT_TRUE(ensemble_.run_until([&] { return ensemble_.children("/files").empty(); }, 20s));
}

}  // namespace
}  // namespace latchkey::test

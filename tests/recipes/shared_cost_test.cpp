#include <latchkey/shared_mutex.hpp>

#include "cost_test.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

using enum lock_mode;

/// What shared_mutex.hpp says of requests and round trips. That one release grants a thousand
/// readers without a list is a row of cost_growth_test.cpp.
class SharedCost : public CostTest {
protected:
    using attempts = std::vector<std::shared_ptr<attempt>>;

    /// A participant of the next client.
    std::shared_ptr<attempt> join(lock_mode mode, std::stop_token stop = {}) {
        clients_.push_back(connected());
        objects_.push_back(std::make_unique<shared_mutex>(clients_.back(), "/files"));
        auto a = acquire_as(*objects_.back(), mode, without_limit, {.stop = std::move(stop)});
        ensemble_.run_for(20ms);
        return a;
    }

    attempts readers(std::size_t count) {
        attempts all;
        for (std::size_t i = 0; i < count; ++i) {
            all.push_back(join(shared));
        }
        return all;
    }

    static bool all_done(const attempts& all) {
        return std::all_of(all.begin(), all.end(), [](const auto& a) { return a->done; });
    }

    static bool none_done(const attempts& all) {
        return std::none_of(all.begin(), all.end(), [](const auto& a) { return a->done; });
    }

    /// Of each of so many clients, beginning with this one.
    std::vector<std::uint64_t> events(std::size_t first, std::size_t number) {
        std::vector<std::uint64_t> each;
        for (std::size_t i = first; i < first + number; ++i) {
            each.push_back(count(clients_[i]).watch_events);
        }
        return each;
    }

    std::vector<client> clients_;
    std::vector<std::unique_ptr<shared_mutex>> objects_;
};

TEST_F(SharedCost, UncontendedAcquireOfEveryModeIsTwoRequestsInOneRoundTrip) {
    client c = connected();
    shared_mutex m(c, "/files");
    held(m, shared).release();
    for (const lock_mode mode : {shared, upgrade, exclusive}) {
        SCOPED_TRACE(to_string(mode));
        settle();
        const auto a = finished(acquire_as(m, mode));
        EXPECT_EQ(took(a), round_trip);
        EXPECT_EQ(ensemble_.count().requests(), 2U);
        a->granted.release();
    }
}

TEST_F(SharedCost, WriterThatGivesUpWakesOnlyTheRunOfReadersBehindIt) {
    constexpr std::size_t run = 4;
    const std::vector<std::uint64_t> none(run, 0U);
    const std::vector<std::uint64_t> one(run, 1U);
    const std::vector<std::uint64_t> no_writer(2, 0U);
    std::stop_source gives_up;
    const auto writer = join(exclusive);
    const attempts nearer = readers(run);
    const auto between = join(exclusive, gives_up.get_token());
    const attempts farther = readers(run);
    const auto behind = join(exclusive);
    const auto last = join(exclusive);
    constexpr std::size_t at_farther = 2 + run;
    constexpr std::size_t at_behind = 2 + 2 * run;

    settle();
    gives_up.request_stop();
    finished(between);
    ensemble_.run_for(100ms);
    EXPECT_EQ(ensemble_.count().children, run) << "one list a reader behind it";
    EXPECT_EQ(events(0, 1), std::vector<std::uint64_t>(1, 0U)) << "ahead of it";
    EXPECT_EQ(events(1, run), none) << "ahead of it";
    EXPECT_EQ(events(at_farther, run), one) << "the run behind it";
    EXPECT_EQ(events(at_behind, 2), no_writer) << "writers later";
    EXPECT_TRUE(none_done(nearer) && none_done(farther));

    settle();
    writer->granted.release();
    ASSERT_TRUE(ensemble_.run_until([&] { return all_done(nearer) && all_done(farther); }, 5s));
    ensemble_.run_for(100ms);
    EXPECT_EQ(ensemble_.count().children, 0U);
    EXPECT_EQ(events(1, run), one);
    EXPECT_EQ(events(at_farther, run), one) << "both runs are one now";
    EXPECT_EQ(events(at_behind, 2), no_writer);

    settle();
    for (const auto& a : nearer) {
        a->granted.release();
    }
    ensemble_.run_for(100ms);
    EXPECT_EQ(events(at_farther, run), none);
    EXPECT_EQ(events(at_behind, 2), no_writer);
    for (const auto& a : farther) {
        a->granted.release();
    }
    finished(behind);
    EXPECT_EQ(events(at_behind, 2), (std::vector<std::uint64_t>{1U, 0U}));
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
                         step{upgrade, exclusive, 1, 1},
                         step{shared, upgrade, 3, 2}}) {
        SCOPED_TRACE(std::string(to_string(s.from)) + " to " + to_string(s.to));
        hold h = held(m, s.from);
        settle();
        const auto converted = finished(convert(m, std::move(h), s.to));
        EXPECT_EQ(converted->granted.mode(), s.to);
        EXPECT_EQ(took(converted), s.round_trips * round_trip);
        EXPECT_EQ(ensemble_.count().requests(), s.requests) << spent();
        converted->granted.release();
        settle();
    }
}

TEST_F(SharedCost, DowngradeIsOneRequestAndGrantsTheReadersBehind) {
    const auto writer = join(exclusive);
    const attempts waiting = readers(6);
    settle();
    const auto reading = finished(convert(*objects_.front(), std::move(writer->granted), shared));
    ASSERT_TRUE(ensemble_.run_until([&] { return all_done(waiting); }, 5s));
    EXPECT_EQ(took(reading), round_trip);
    EXPECT_EQ(ensemble_.count().multis, 1U);
    EXPECT_EQ(ensemble_.count().children, 0U);
    EXPECT_EQ(reading->granted.mode(), shared);
}

TEST_F(SharedCost, DowngradeWhoseAnswerIsLostIsFoundDone) {
    for (const auto when : {ensemble::when::before, ensemble::when::after}) {
        client c = connected();
        shared_mutex m(c, "/files");
        hold w = held(m, exclusive);
        ensemble_.fail_next(ensemble::request_kind::multi, when, c.session_id());
        const auto reading = finished(convert(m, std::move(w), shared));
        EXPECT_TRUE(reading->granted.valid());
        EXPECT_EQ(reading->granted.mode(), shared);
        EXPECT_TRUE(ensemble_.exists(reading->granted.path()));
        EXPECT_EQ(in_queue("/files"), 1U);
        reading->granted.release();
        ASSERT_TRUE(ensemble_.run_until([&] { return in_queue("/files") == 0; }, 10s));
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
    m.async_convert(std::move(w), shared, without_limit, {}, [&](std::error_code, const hold&) {
        done = true;
    });
    ensemble_.run_for(1ms);
    ensemble_.suspend(session);
    ensemble_.run_for(8s);  // the deadline passes
    EXPECT_TRUE(done) << "told that it is lost";
    ensemble_.resume(session);
    ASSERT_TRUE(ensemble_.run_until([&] { return in_queue("/files") == 0; }, 20s));
}

}  // namespace
}  // namespace latchkey::test

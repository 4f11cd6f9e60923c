#include "cli_refusal.hpp"
#include "cli_words.hpp"
#include "look/latency.hpp"
#include "options/duration_text.hpp"
#include "run/restart_backoff.hpp"
#include "supervisor/kill_schedule.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Times that options give, that a command has, and that servers need.

namespace latchkey::test {

namespace {

using namespace latchkey::cli;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;

std::string refusal_of_seconds(const std::string& text) {
    return refusal_of_action([&] { return parse_seconds("-w", text); });
}

TEST(Seconds, AreWholeOrFractions) {
    const std::pair<const char*, nanoseconds> cases[]{{"0", 0ns},
                                                      {"7", 7s},
                                                      {"0.25", 250ms},
                                                      {".5", 500ms},
                                                      {"3.", 3s},
                                                      {"007", 7s},
                                                      {"1.0000000019", 1s + 1ns},
                                                      {"0.0000000001", 1ns}};
    for (const auto& [text, seconds] : cases) {
        EXPECT_EQ(parse_seconds("-w", text), seconds) << text;
    }
}

TEST(Seconds, BeyondTheClockAreForEverAndNeverNegative) {
    for (const std::string& text :
         {std::string("9999999999"), std::string("18446744073709551617"), std::string(400, '9')}) {
        EXPECT_EQ(parse_seconds("-w", text), nanoseconds::max()) << text;
    }
    for (const std::string& text : words_of("922337202.999999999 9223372036 9223372037 "
                                            "9223372036.999999999 9223372029.9")) {
        EXPECT_GT(parse_seconds("-w", text), 0ns) << text;
    }
}

TEST(Seconds, RefuseWhatIsNoPlainDecimal) {
    for (const std::string& text :
         joined({"", " 1", "1 "}, words_of(". 5s 1e3 +1 nan inf 0x10 1.2.3 1,5 -- -"))) {
        EXPECT_THAT(refusal_of_seconds(text), HasSubstr("plain decimal")) << text;
    }
    EXPECT_EQ(refusal_of_seconds("-1"), "-w: '-1' is negative; give zero or more seconds");
    EXPECT_THAT(refusal_of_seconds("\x1b[2J"), HasSubstr("'\\x1b[2J'"));
}

constexpr kill_schedule::time_point at(nanoseconds t) {
    return kill_schedule::time_point(t);
}

/// With a deadline at 10 s and a grace of 1 s.
class KillSchedule : public ::testing::Test {
protected:
    using stage = kill_schedule::stage;
    static constexpr auto last_moment_ = at(10s - kill_schedule::safety);

    kill_schedule schedule_{at(10s), 1s};
};

TEST_F(KillSchedule, TerminatesAtGraceAndKillsBeforeTheDeadline) {
    EXPECT_EQ(schedule_.next(), at(9s));
    EXPECT_EQ(schedule_.advance(at(9s - 1ns)), stage::running);
    EXPECT_EQ(schedule_.advance(at(9s)), stage::terminating);
    EXPECT_EQ(schedule_.next(), last_moment_);
    EXPECT_EQ(schedule_.advance(last_moment_ - 1ns), stage::terminating);
    EXPECT_EQ(schedule_.advance(last_moment_), stage::killing);
    EXPECT_EQ(schedule_.next(), kill_schedule::time_point::max());
}

TEST_F(KillSchedule, FollowsTheDeadlineUntilTermWasSent) {
    for (auto now = 0s; now < 100s; now += 2s) {
        schedule_.move_deadline(at(now + 10s));
        EXPECT_EQ(schedule_.advance(at(now)), stage::running);
    }
    EXPECT_EQ(schedule_.next(), at(107s));
    schedule_.move_deadline(at(10s));
    EXPECT_EQ(schedule_.advance(at(9s)), stage::terminating) << "it moved back";
    schedule_.move_deadline(at(100s));
    EXPECT_EQ(schedule_.next(), last_moment_);
    EXPECT_EQ(schedule_.advance(at(10s)), stage::killing);
    schedule_.move_deadline(at(100s));
    EXPECT_EQ(schedule_.advance(at(11s)), stage::killing);
}

TEST_F(KillSchedule, KillsAtOnceWhenItIsLateAlready) {
    EXPECT_EQ(schedule_.advance(at(12s)), stage::killing);
}

TEST_F(KillSchedule, KillsAtOnceWhenItIsAskedTo) {
    schedule_.end_now();
    EXPECT_EQ(schedule_.next(), kill_schedule::time_point::min());
    EXPECT_EQ(schedule_.advance(at(0s)), stage::killing);
}

TEST_F(KillSchedule, KillsAtOnceWhenItIsAskedToAfterTerm) {
    schedule_.advance(at(9s));
    schedule_.end_now();
    EXPECT_EQ(schedule_.advance(at(9s)), stage::killing);
}

TEST_F(KillSchedule, TakesALostHoldsDeadlineForNow) {
    schedule_.move_deadline(kill_schedule::time_point::min());
    EXPECT_EQ(schedule_.advance(at(1s)), stage::killing);
}

TEST_F(KillSchedule, WithLittleGraceTerminatesAndKillsTogether) {
    kill_schedule little(at(10s), 0s);
    EXPECT_EQ(little.next(), last_moment_);
    EXPECT_EQ(little.advance(little.next()), stage::killing);
}

TEST(RestartPause, GrowsWhileTheCommandEndsSoonAndIsShortAfterOneThatRanLong) {
    restart_backoff pauses;
    auto now = restart_backoff::clock::time_point(1h);
    EXPECT_EQ(pauses.left(now), 0s) << "at first there is none";
    nanoseconds last{};
    for (int i = 0; i < 20; ++i) {
        pauses.begun(now);
        pauses.ended(now);
        const auto pause = pauses.left(now);
        EXPECT_GE(pause, last);
        EXPECT_GE(pause, restart_backoff::first);
        EXPECT_LE(pause, restart_backoff::longest);
        last = pause;
        now += pause;
        EXPECT_EQ(pauses.left(now), 0s);
    }
    EXPECT_EQ(last, restart_backoff::longest);
    pauses.begun(now);
    now += restart_backoff::longest + 1s;
    pauses.ended(now);
    EXPECT_EQ(pauses.left(now), restart_backoff::first);
    pauses.skip(now);
    EXPECT_EQ(pauses.left(now), 0s);
}

TEST(Latency, PercentilesAreThoseOfTheNearestRank) {
    std::vector<nanoseconds> all;
    for (int i = 200; i > 0; --i) {
        all.emplace_back(i * 1ms);
    }
    const latency l = latency_of(all);
    EXPECT_EQ(l.count, 200U);
    EXPECT_EQ(l.least, 1ms);
    EXPECT_EQ(l.p50, 100ms);
    EXPECT_EQ(l.p90, 180ms);
    EXPECT_EQ(l.p99, 198ms);
    EXPECT_EQ(l.most, 200ms);
    EXPECT_EQ(latency_of({}).count, 0U);
}

TEST(Latency, OfOneRequestAllAreTheSame) {
    const latency l = latency_of({1'234'567ns});
    EXPECT_EQ(l.least, l.p50);
    EXPECT_EQ(l.p99, l.most);
    EXPECT_THAT(text_of("read", l), HasSubstr("1.23 "));
    EXPECT_EQ(json_of(l)["p99_us"], 1234);
}

}  // namespace

}  // namespace latchkey::test

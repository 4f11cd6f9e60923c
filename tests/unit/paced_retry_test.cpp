#include "loop/paced_retry.hpp"

#include "ensemble/virtual/virtual_loop.hpp"
#include "loop/backoff.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

TEST(Backoff, DoublesUpToTheCapAndStaysThere) {
    backoff b(10ms, 100ms);
    for (const nanoseconds top : {10ms, 20ms, 40ms, 80ms, 100ms, 100ms, 100ms}) {
        const auto half = static_cast<std::uint64_t>(top.count()) / 2;
        EXPECT_EQ(b.next(half), top);
    }
}

TEST(Backoff, DrawsFromTheUpperHalfBothEndsIncluded) {
    for (const std::uint64_t random : {std::uint64_t{1}, largest - 1, largest}) {
        const nanoseconds drawn = backoff(10ms, 1s).next(random);
        EXPECT_GE(drawn, 5ms);
        EXPECT_LE(drawn, 10ms);
    }
    EXPECT_EQ(backoff(10ms, 1s).next(0), 5ms);
    EXPECT_EQ(backoff(10ms, 1s).next(5'000'000), 10ms);
}

TEST(Backoff, ClientsThatFailedTogetherDoNotComeBackTogether) {
    std::mt19937_64 random(7);
    backoff one(1s, 60s);
    backoff other(1s, 60s);
    int together = 0;
    for (int i = 0; i < 100; ++i) {
        together += one.next(random()) == other.next(random()) ? 1 : 0;
    }
    EXPECT_LE(together, 1);
}

TEST(Backoff, BeginsAnewAfterReset) {
    backoff b(10ms, 1s);
    for (int i = 0; i < 10; ++i) {
        static_cast<void>(b.next(0));
    }
    EXPECT_EQ(b.next(0), 500ms);
    b.reset();
    EXPECT_EQ(b.next(0), 5ms);
}

TEST(Backoff, NeverExceedsTheCapNorOverflows) {
    constexpr auto for_ever = nanoseconds::max();
    for (const auto& [first, cap] : std::vector<std::pair<nanoseconds, nanoseconds>>{
             {1ns, 1ns}, {1ns, for_ever}, {24h, 8760h}, {for_ever, for_ever}, {1s, 10ms}}) {
        backoff b(first, cap);
        for (int i = 0; i < 1000; ++i) {
            const nanoseconds drawn = b.next(largest - static_cast<std::uint64_t>(i));
            ASSERT_GE(drawn, 0ns);
            ASSERT_LE(drawn, cap);
        }
        EXPECT_GE(b.next(0), cap / 2 - 1ns);
    }
}

TEST(Backoff, OfNothingIsNothing) {
    EXPECT_EQ(backoff(0ns, 1s).next(largest), 0ns);
}

TEST(Backoff, IsComputedAtCompileTime) {
    static_assert([] {
        backoff b(1s, 8760h);
        nanoseconds last{};
        for (int i = 0; i < 100; ++i) {
            last = b.next(0);
        }
        return last == 4380h;
    }());
}

class PacedRetry : public ::testing::Test {
protected:
    /// Fails a millisecond after each time.
    void fail_again_and_again(void (paced_retry::*how)(loop::task)) {
        steps_.push_back(loop_->now() - start_);
        answer_.start(1ms,
                      [this, how] { (retry_.*how)([this, how] { fail_again_and_again(how); }); });
    }

    [[nodiscard]] std::ptrdiff_t steps_between(nanoseconds from, nanoseconds to) const {
        return std::count_if(
            steps_.begin(), steps_.end(), [&](nanoseconds at) { return from <= at && at < to; });
    }

    const std::shared_ptr<virtual_loop> loop_ = virtual_loop::make(virtual_loop::mode::stepped, 1);
    const loop::clock::time_point start_ = loop_->now();
    timer answer_{*loop_};
    paced_retry retry_{*loop_};
    std::vector<nanoseconds> steps_;
};

TEST_F(PacedRetry, IsAtMostThreeTimesInAnySecondAfterTheFirst) {
    for (const auto how : {&paced_retry::later, &paced_retry::soon}) {
        steps_.clear();
        const auto begun = loop_->now() - start_;
        fail_again_and_again(how);
        loop_->run_for(60s);
        answer_.cancel();
        EXPECT_LE(steps_between(begun, begun + 1s), 15);
        for (auto from = begun + 1s; from < begun + 59s; from += 50ms) {
            ASSERT_LE(steps_between(from, from + 1s), 3);
        }
        EXPECT_GE(steps_between(begun + 10s, begun + 60s), 40);
        retry_.cancel();
        loop_->run_for(5s);
    }
}

TEST_F(PacedRetry, IsAtOnceTheFirstTimes) {
    fail_again_and_again(&paced_retry::soon);
    loop_->run_for(6ms);
    EXPECT_EQ(steps_.size(), 5U);
}

TEST_F(PacedRetry, BeginsAnewAfterARest) {
    fail_again_and_again(&paced_retry::soon);
    loop_->run_for(60s);
    answer_.cancel();
    retry_.cancel();
    loop_->run_for(2100ms);
    for (const auto how : {&paced_retry::later, &paced_retry::soon}) {
        const auto asked = loop_->now();
        nanoseconds waited = 1h;
        (retry_.*how)([&] { waited = loop_->now() - asked; });
        loop_->run_for(10ms);
        EXPECT_LE(waited, 10ms);
        loop_->run_for(1100ms);
    }
}

TEST_F(PacedRetry, TakesTheLastStepThatWasAskedFor) {
    int taken = 0;
    retry_.later([&] { taken = 1; });
    retry_.later([&] { taken = 2; });
    EXPECT_TRUE(retry_.running());
    loop_->run_for(1s);
    EXPECT_EQ(taken, 2);
    retry_.later([&] { taken = 3; });
    retry_.cancel();
    loop_->run_for(3s);
    EXPECT_EQ(taken, 2);
}

TEST_F(PacedRetry, MayBeDestroyedByItsStep) {
    auto doomed = std::make_unique<paced_retry>(*loop_);
    doomed->soon([&] { doomed.reset(); });
    EXPECT_FALSE(doomed);
    doomed = std::make_unique<paced_retry>(*loop_);
    doomed->later([&] { doomed.reset(); });
    loop_->run_for(1s);
    EXPECT_FALSE(doomed);
}

}  // namespace
}  // namespace latchkey

#include "loop/paced_retry.hpp"

#include "ensemble/virtual/virtual_loop.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

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

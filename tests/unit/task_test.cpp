// A protocol as a coroutine: what a drop leaves behind, and who may destroy what, when.
#include "loop/task.hpp"

#include "ensemble/virtual/virtual_loop.hpp"
#include "loop/paced_retry.hpp"
#include "loop/within.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

/// Counts those that are alive.
struct witness {
    explicit witness(int& alive) : alive_(alive) { ++alive_; }

    witness(const witness&) = delete;
    witness& operator=(const witness&) = delete;

    ~witness() { --alive_; }

    int& alive_;
};

using answers = std::vector<std::function<void(int)>>;

oneshot<int> ask(answers& asked) {
    oneshot<int> answer;
    asked.emplace_back(answer.setter());
    return answer;
}

task<int> sum_of(answers& asked, int count, int& alive) {
    const witness here(alive);
    int sum = 0;
    for (int i = 0; i < count; ++i) {
        auto answer = ask(asked);
        const int one = co_await answer;
        sum += one;
    }
    co_return sum;
}

task<int> twice(answers& asked, int& alive) {
    const witness here(alive);
    auto first = sum_of(asked, 1, alive);
    const int a = co_await first;
    auto second = sum_of(asked, 1, alive);
    const int b = co_await second;
    co_return a * 10 + b;
}

class Task : public ::testing::Test {
protected:
    void start(int count) {
        running_.start(sum_of(asked_, count, alive_), [this](int sum) { ended_.push_back(sum); });
    }

    void start_twice() {
        running_.start(twice(asked_, alive_), [this](int r) { ended_.push_back(r); });
    }

    answers asked_;
    int alive_ = 0;
    std::vector<int> ended_;
    running_task running_;
};

TEST_F(Task, GoesOnInsideTheCallThatAnswersAndEndsOnce) {
    start(2);
    asked_[0](3);
    EXPECT_EQ(asked_.size(), 2U);
    EXPECT_TRUE(ended_.empty());
    asked_[1](4);
    EXPECT_EQ(ended_, (std::vector{7}));
    asked_[1](5);
    EXPECT_EQ(ended_, (std::vector{7})) << "an answer counts once";
}

TEST_F(Task, ThatWaitsForNothingEndsInsideTheCallThatStartsIt) {
    start(0);
    EXPECT_EQ(ended_, (std::vector{0}));
}

TEST_F(Task, ThatIsDroppedTakesThoseAlongThatItAwaits) {
    start_twice();
    EXPECT_EQ(alive_, 2);
    running_.drop();
    EXPECT_EQ(alive_, 0);
    asked_[0](1);
    EXPECT_TRUE(ended_.empty());
}

TEST_F(Task, AwaitsAnother) {
    start_twice();
    asked_[0](4);
    asked_[1](2);
    EXPECT_EQ(ended_, (std::vector{42}));
}

TEST_F(Task, IsReplacedByTheNextOne) {
    start(1);
    start(1);
    EXPECT_EQ(alive_, 1);
    asked_[0](1);
    EXPECT_TRUE(ended_.empty()) << "an answer to the one before";
    asked_[1](2);
    EXPECT_EQ(ended_, (std::vector{2}));
}

TEST_F(Task, MayBeFollowedByTheNextOneFromItsEnd) {
    running_.start(sum_of(asked_, 1, alive_), [this](int) { start(1); });
    asked_[0](1);
    EXPECT_EQ(asked_.size(), 2U);
    asked_[1](2);
    EXPECT_EQ(ended_, (std::vector{2}));
}

TEST_F(Task, MayBeDestroyedByItsEnd) {
    for (const int questions : {0, 1}) {
        auto owner = std::make_unique<running_task>();
        asked_.clear();
        owner->start(sum_of(asked_, questions, alive_), [&](int sum) {
            owner.reset();
            ended_.push_back(sum);
        });
        if (questions == 1) {
            asked_[0](1);
        }
        EXPECT_EQ(owner, nullptr);
        EXPECT_EQ(alive_, 0);
    }
    EXPECT_EQ(ended_, (std::vector{0, 1}));
}

TEST_F(Task, DoesNotWaitForAnAnswerThatIsThereAlready) {
    const auto wait = [](oneshot<int> a) -> task<int> { co_return co_await a; };
    oneshot<int> answer;
    answer.setter()(7);
    running_.start(wait(std::move(answer)), [this](int r) { ended_.push_back(r); });
    EXPECT_EQ(ended_, (std::vector{7}));
}

TEST_F(Task, KnowsThatNobodyAwaitsWhatWasDropped) {
    auto answer = std::make_unique<oneshot<int>>();
    const std::weak_ptr<const void> awaited = answer->alive();
    EXPECT_FALSE(awaited.expired());
    answer.reset();
    EXPECT_TRUE(awaited.expired());
}

TEST_F(Task, GoesOnAfterAPauseUnlessItIsDropped) {
    const auto loop = virtual_loop::make(virtual_loop::mode::stepped, 1);
    paced_retry retry(*loop);
    const auto pause = [](paced_retry& r) -> task<int> {
        auto rest = r.pause();
        co_await rest;
        co_return 1;
    };
    for (const bool dropped : {false, true}) {
        running_.start(pause(retry), [this](int r) { ended_.push_back(r); });
        if (dropped) {
            running_.drop();
        }
        EXPECT_EQ(ended_.size(), dropped ? 1U : 0U);
        loop->run_for(std::chrono::seconds(2));
    }
    EXPECT_EQ(ended_, (std::vector{1}));
}

TEST_F(Task, IsDroppedWhenItsTimeIsOver) {
    const auto loop = virtual_loop::make(virtual_loop::mode::stepped, 1);
    std::vector<std::optional<int>> ended;
    const auto end = [&ended](std::optional<int> r) { ended.push_back(r); };
    running_.start(within(*loop, std::chrono::seconds(1), sum_of(asked_, 1, alive_)), end);
    asked_.at(0)(5);
    EXPECT_EQ(ended, (std::vector<std::optional<int>>{5}));

    running_.start(within(*loop, std::chrono::seconds(1), sum_of(asked_, 1, alive_)), end);
    loop->run_for(std::chrono::milliseconds(999));
    EXPECT_EQ(ended.size(), 1U);
    loop->run_for(std::chrono::milliseconds(1));
    EXPECT_EQ(ended, (std::vector<std::optional<int>>{5, std::nullopt}));
    EXPECT_EQ(alive_, 0);
    asked_.at(1)(7);
    loop->run_for(std::chrono::seconds(1));
    EXPECT_EQ(ended.size(), 2U);
}

TEST_F(Task, IsResumedOnceByAResumptionThatMayBeEmpty) {
    resumption by;
    by();
    const auto wait = [](resumption& until) -> task<int> {
        auto resumed = until_resumed(until);
        co_await resumed;
        co_return 1;
    };
    running_.start(wait(by), [this](int r) { ended_.push_back(r); });
    by();
    by();
    EXPECT_EQ(ended_, (std::vector{1}));
}

TEST_F(Task, ThatWaitsWithOthersIsForgottenSoonAfterItWasDropped) {
    waiting_tasks all;
    const auto wait = [](waiting_tasks& with) -> task<int> {
        auto together = until_called_back([&with](resumption r) { with.add(std::move(r)); });
        co_await together;
        co_return 1;
    };
    running_.start(wait(all), [this](int r) { ended_.push_back(r); });
    for (int i = 0; i < 10'000; ++i) {
        running_task dropped;
        dropped.start(wait(all), [this](int) { ended_.push_back(2); });
    }
    EXPECT_LT(all.size(), 200U);
    all.resume_all();
    EXPECT_EQ(ended_, (std::vector{1}));
    EXPECT_EQ(all.size(), 0U);
}

}  // namespace
}  // namespace latchkey::test

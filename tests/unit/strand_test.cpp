#include "loop/strand.hpp"

#include "forked_child.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace latchkey {
namespace {

/// An executor whose functions run when the test says so.
struct manual_executor {
    strand::executor executor() {
        return [this](strand::task t) { tasks.push_back(std::move(t)); };
    }

    bool run_one() {
        if (tasks.empty()) {
            return false;
        }
        strand::task t = std::move(tasks.front());
        tasks.pop_front();
        t();
        return true;
    }

    std::deque<strand::task> tasks;
};

TEST(Strand, HandsOverOneTaskAtATimeInOrder) {
    manual_executor e;
    strand s(e.executor());
    std::vector<int> ran;
    for (int i = 0; i < 5; ++i) {
        s.run([&ran, i] { ran.push_back(i); });
        EXPECT_EQ(e.tasks.size(), 1U);
    }
    EXPECT_TRUE(ran.empty());
    EXPECT_TRUE(e.run_one());
    EXPECT_EQ(ran, (std::vector<int>{0}));
    EXPECT_EQ(e.tasks.size(), 1U);
    while (e.run_one()) {
    }
    EXPECT_EQ(ran, (std::vector<int>{0, 1, 2, 3, 4}));
    s.run([&ran] { ran.push_back(5); });
    EXPECT_TRUE(e.run_one());
    EXPECT_EQ(ran.back(), 5);
}

TEST(Strand, DestroysATaskBeforeTheNextRuns) {
    manual_executor e;
    strand s(e.executor());
    const auto token = std::make_shared<int>(0);
    long seen = 0;
    s.run([token] {});
    s.run([&] { seen = token.use_count(); });
    while (e.run_one()) {
    }
    EXPECT_EQ(seen, 1);
}

TEST(Strand, DestroysWhatWaitsWhenTheExecutorDestroysItsFunction) {
    manual_executor e;
    strand s(e.executor());
    const auto token = std::make_shared<int>(0);
    bool ran = false;
    s.run([token] {});
    s.run([token, &ran] { ran = true; });
    EXPECT_EQ(token.use_count(), 3);
    e.tasks.clear();
    EXPECT_EQ(token.use_count(), 1);
    s.run([&ran] { ran = true; });
    EXPECT_FALSE(ran);
    EXPECT_TRUE(e.run_one()) << "later tasks are handed over again";
    EXPECT_TRUE(ran);
}

TEST(Strand, SurvivesAnExecutorThatThrowsOrDestroysAtOnce) {
    const auto token = std::make_shared<int>(0);
    strand throws([](const strand::task&) { throw 1; });
    strand ignores([](const strand::task&) {});
    for (int i = 0; i < 3; ++i) {
        throws.run([token] {});
        ignores.run([token] {});
    }
    EXPECT_EQ(token.use_count(), 1);
}

TEST(Strand, IgnoresASecondCallOfTheSameFunction) {
    manual_executor e;
    strand s(e.executor());
    int ran = 0;
    s.run([&] { ++ran; });
    strand::task t = std::move(e.tasks.front());
    t();
    t();
    EXPECT_EQ(ran, 1);
}

TEST(Strand, IsInertInAForkedChild) {
    manual_executor e;
    strand s(e.executor());
    s.run([] { ::_exit(1); });
    EXPECT_TRUE(test::holds_in_a_forked_child([&] {
        s.run([] { ::_exit(2); });
        while (e.run_one()) {
        }
        return true;
    }));
    e.tasks.clear();
}

}  // namespace
}  // namespace latchkey

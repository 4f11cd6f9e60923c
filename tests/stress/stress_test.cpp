// All public classes at once, by more than 40 threads, with faults, losses, closes and forks.
// `scripts/soak stress` makes a long run of it, under sanitizers.
#include "number_from.hpp"
#include "stage.hpp"
#include "workers.hpp"

#include <chrono>
#include <iostream>
#include <random>

#include <gtest/gtest.h>
#include <unistd.h>

namespace latchkey::test {
namespace {

TEST(Stress, OfAllClassesFindsNothing) {
    const std::uint64_t seed = number_from("LATCHKEY_STRESS_SEED", std::random_device()());
    const auto seconds = static_cast<unsigned>(number_from("LATCHKEY_STRESS_SECONDS", 10));
    SCOPED_TRACE("LATCHKEY_STRESS_SEED=" + std::to_string(seed));
    std::cout << "seed " << seed << ", " << seconds << " s" << std::endl;
    ::alarm(seconds + 900);  // a call that does not return ends the program
    {
        stage s(seed, std::chrono::seconds(seconds));
        add_lock_workers(s);
        add_lockable_workers(s);
        add_meeting_workers(s);
        add_callback_workers(s);
        add_onlookers(s);
        s.finish();
        for (const std::string& f : s.findings()) {
            ADD_FAILURE() << f;
        }
        for (const auto& [kind, turns] : s.turns_had()) {
            std::cout << kind << ": " << turns << " turns\n";
            EXPECT_GT(turns, 0U) << kind;
        }
    }
    ::alarm(0);
}

// The judge has to be able to find something.
TEST(JudgeOfHolds, FindsTwoThatAreValidAtOnce) {
    testing::ensemble servers;
    const client c = servers.connect();
    mutex one(c, "/one");
    mutex other(c, "/other");
    judge_of_holds judge("/taken for one path", 1);
    {
        const hold first = one.acquire();
        const hold second = other.acquire();
        const judge_of_holds::visit later(judge, second, 1);
        // It is judged when it leaves, so it is lost by then, for a reason that is no excuse.
        const judge_of_holds::visit earlier(judge, first, 1);
        c.close();
    }
    ASSERT_EQ(judge.findings().size(), 1U);
    EXPECT_NE(judge.findings().front().find("valid beside a later hold"), std::string::npos);
}

}  // namespace
}  // namespace latchkey::test

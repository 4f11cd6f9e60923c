// One holder is stopped exactly between its read and its write, for longer than its session lives.
// LATCHKEY_UPDATES_SECONDS=60 stops several for so long and makes figures of it (`scripts/soak
// lost-updates`).
#include "lost_updates.hpp"

#include "number_from.hpp"
#include "real_ensemble.hpp"

#include <cstdio>
#include <random>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

lost_updates_outcome with_stops(guard by) {
    lost_updates_options o{.by = by,
                           .servers = real_ensemble::shared().connect_string(),
                           .session_timeout = 1500ms,
                           .processes = 2,
                           .stops = 1,
                           .updates = 2,
                           .one_in = 1};
    const std::chrono::seconds time(number_from("LATCHKEY_UPDATES_SECONDS", 0));
    if (time > 0s) {
        o = {.by = by, .servers = o.servers, .seed = std::random_device()(), .duration = time};
    }
    const auto outcome = run_lost_updates(o);
    std::printf(
        "updates acknowledged %zu, unknown %zu, refused %zu, applied %zu, lost %zu; "
        "processes stopped %zu times\n",
        outcome.acknowledged,
        outcome.unknown,
        outcome.refused,
        outcome.applied,
        outcome.lost(),
        outcome.stops);
    EXPECT_EQ(outcome.trouble, "");
    EXPECT_TRUE(outcome.stops == o.stops || time > 0s) << outcome.stops;
    EXPECT_GT(outcome.acknowledged, 1U);
    EXPECT_LE(outcome.applied, outcome.acknowledged + outcome.unknown);
    return outcome;
}

TEST(LostUpdates, TheLockAloneLosesOneWhenItsHolderIsStopped) {
    const auto outcome = with_stops(guard::nothing);
    EXPECT_EQ(outcome.refused, 0U);
    EXPECT_GE(outcome.lost(), 1U) << "then the other tests of this file prove nothing";
}

TEST(LostUpdates, TheTokenLosesNone) {
    const auto outcome = with_stops(guard::token);
    EXPECT_GE(outcome.refused, 1U);
    EXPECT_EQ(outcome.applied, outcome.acknowledged);
}

TEST(LostUpdates, TheGuardedTransactionLosesNone) {
    const auto outcome = with_stops(guard::transaction);
    EXPECT_GE(outcome.refused, 1U);
    EXPECT_EQ(outcome.lost(), 0U);
}

}  // namespace
}  // namespace latchkey::test

int main(int argc, char** argv) {
    if (latchkey::test::updater_program.run_if_named(argc, argv)) {
        return 0;
    }
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}

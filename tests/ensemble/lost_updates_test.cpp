// One holder is stopped exactly between its read and its write, for longer than its session lives.
// `scripts/soak lost-updates` shows it at length.
#include "lost_updates.hpp"

#include "real_ensemble.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

lost_updates_outcome with_one_stop(guard by) {
    const auto folder =
        std::filesystem::temp_directory_path() / ("latchkey-updates-" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder);
    const auto outcome = run_lost_updates({.by = by,
                                           .servers = real_ensemble::shared().connect_string(),
                                           .path = real_ensemble::fresh_path(),
                                           .folder = folder,
                                           .session_timeout = 1500ms,
                                           .processes = 2,
                                           .stops = 1,
                                           .one_in = 1});
    std::filesystem::remove_all(folder);
    EXPECT_EQ(outcome.trouble, "");
    EXPECT_EQ(outcome.stops, 1U);
    EXPECT_GT(outcome.acknowledged, 1U);
    return outcome;
}

TEST(LostUpdates, TheLockAloneLosesOneWhenItsHolderIsStopped) {
    const auto outcome = with_one_stop(guard::nothing);
    EXPECT_EQ(outcome.refused, 0U);
    EXPECT_GE(outcome.lost(), 1U) << "then the other tests of this file prove nothing";
}

TEST(LostUpdates, TheTokenLosesNone) {
    const auto outcome = with_one_stop(guard::token);
    EXPECT_GE(outcome.refused, 1U);
    EXPECT_EQ(outcome.applied, outcome.acknowledged);
}

TEST(LostUpdates, TheGuardedTransactionLosesNone) {
    const auto outcome = with_one_stop(guard::transaction);
    EXPECT_GE(outcome.refused, 1U);
    EXPECT_EQ(outcome.lost(), 0U);
    EXPECT_LE(outcome.applied, outcome.acknowledged + outcome.unknown);
}

}  // namespace
}  // namespace latchkey::test

int main(int argc, char** argv) {
    if (latchkey::test::is_updater(argc, argv)) {
        return latchkey::test::run_updater(argv);
    }
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}

// A short time of random faults against real servers and real processes. `scripts/soak chaos` makes
// a long one of it.
#include "chaos.hpp"

#include "chaos_worker.hpp"

#include <filesystem>
#include <iostream>
#include <random>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

/// All at once, each on paths of its own: what is broken is broken for all.
TEST(Chaos, NobodyIsFooledAndNothingIsLostUnderRandomFaults) {
    chaos_options o;
    o.seed = std::random_device()();
    o.duration = 8s;
    o.storm = 8s;
    o.session_timeout = 2000ms;
    o.recipes.assign(all_recipes.begin(), all_recipes.end());
    o.processes = 2;
    o.locks = 2;
    o.folder =
        std::filesystem::temp_directory_path() / ("latchkey-chaos-" + std::to_string(::getpid()));
    std::filesystem::create_directory(o.folder);
    const chaos_outcome outcome = run_chaos(o, std::cout);
    std::ostringstream report;
    print(report, o, outcome);
    print_table(report, {outcome});
    std::cout << report.str();
    std::filesystem::remove_all(o.folder);

    EXPECT_TRUE(outcome.fine()) << report.str();
    EXPECT_GT(outcome.faults.size(), 2U) << "hardly anything was broken";
    for (const auto& [what, judged] : outcome.judged) {
        EXPECT_GT(judged.grants, 2U) << to_string(what);
    }
}

}  // namespace
}  // namespace latchkey::test

int main(int argc, char** argv) {
    if (latchkey::test::is_chaos_worker(argc, argv)) {
        return latchkey::test::run_chaos_worker(argv);
    }
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}

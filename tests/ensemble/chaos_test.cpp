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

class Chaos : public testing::Test {
protected:
    Chaos() {
        options_.seed = std::random_device()();
        options_.session_timeout = 2000ms;
        options_.folder = std::filesystem::temp_directory_path() /
                          ("latchkey-chaos-" + std::to_string(::getpid()));
        std::filesystem::create_directory(options_.folder);
    }

    ~Chaos() override { std::filesystem::remove_all(options_.folder); }

    void run() {
        outcome_ = run_chaos(options_, std::cout);
        std::ostringstream report;
        print(report, options_, outcome_);
        print_table(report, {outcome_});
        std::cout << report.str();
        EXPECT_TRUE(outcome_.fine()) << report.str();
        EXPECT_GT(outcome_.faults.size(), 3U) << "hardly anything was broken";
    }

    chaos_options options_;
    chaos_outcome outcome_;
};

TEST_F(Chaos, NobodyIsFooledAndNothingIsLostUnderRandomFaults) {
    options_.duration = 12s;
    options_.storm = 12s;
    options_.processes = 4;
    run();
    EXPECT_GT(outcome_.grants(), 20U);
}

/// All of them at once, each on paths of its own: what is broken is broken for all.
TEST_F(Chaos, EveryRecipeKeepsItsPromisesUnderRandomFaults) {
    options_.duration = 10s;
    options_.storm = 10s;
    options_.processes = 2;
    options_.locks = 2;
    options_.recipes.assign(all_recipes.begin(), all_recipes.end());
    run();
    for (const auto& [what, judged] : outcome_.judged) {
        EXPECT_GT(judged.grants, 5U) << to_string(what);
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

// A short time of random faults against real servers and real processes. `scripts/soak chaos` makes
// a long one of it.
#include "chaos.hpp"

#include "chaos_worker.hpp"
#include "number_from.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

/// What is drawn from: LATCHKEY_CHAOS_SEED, or anything. The faults and the turns are the same for
/// the same seed; what the machine makes of them is not.
std::uint64_t first_seed() {
    return number_from("LATCHKEY_CHAOS_SEED", std::random_device()());
}

/// What all runs together have to come to, in numbers that say that the test has tested something.
struct experience {
    std::size_t faults = 0;
    std::set<std::string> kinds;
    std::map<recipe, std::size_t> grants;

    void add(const chaos_outcome& outcome) {
        for (const auto& [kind, times] : outcome.faults) {
            kinds.insert(kind);
            faults += times;
        }
        for (const auto& [what, judged] : outcome.judged) {
            grants[what] += judged.grants;
        }
    }

    [[nodiscard]] bool suffices() const {
        return faults >= 8 && kinds.size() >= 4 && grants.size() == all_recipes.size() &&
               std::all_of(
                   grants.begin(), grants.end(), [](const auto& g) { return g.second >= 10; });
    }
};

/// All at once, each on paths of its own: what is broken is broken for all.
chaos_outcome run_for_a_moment(std::uint64_t seed) {
    chaos_options o;
    o.seed = seed;
    o.duration = 8s;
    o.storm = 8s;
    o.session_timeout = 2000ms;
    o.patience = 12s;
    o.recipes.assign(all_recipes.begin(), all_recipes.end());
    o.processes = 2;
    o.locks = 2;
    o.folder =
        std::filesystem::temp_directory_path() / ("latchkey-chaos-" + std::to_string(::getpid()));
    std::filesystem::create_directory(o.folder);
    std::cout << "LATCHKEY_CHAOS_SEED=" << seed << std::endl;
    chaos_outcome outcome = run_chaos(o, std::cout);
    std::ostringstream report;
    print(report, o, outcome);
    print_table(report, {outcome});
    std::cout << report.str();
    std::filesystem::remove_all(o.folder);
    EXPECT_TRUE(outcome.fine()) << report.str();
    return outcome;
}

TEST(Chaos, NobodyIsFooledAndNothingIsLostUnderRandomFaults) {
    experience all;
    const std::uint64_t first = first_seed();
    for (std::uint64_t runs = 0; runs < 8 && !all.suffices(); ++runs) {  // on slow machines
        all.add(run_for_a_moment(first + runs));
        ASSERT_FALSE(HasFailure()) << "again with LATCHKEY_CHAOS_SEED=" << first + runs;
    }
    EXPECT_TRUE(all.suffices()) << all.faults << " faults of " << all.kinds.size() << " kinds";
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

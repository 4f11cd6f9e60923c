// A short time of random faults against real servers and real processes, which `scripts/soak chaos`
// makes long; and many threads that contend closely for a few locks, with no faults at all, which
// LATCHKEY_STORM_SECONDS=60 makes long.
#include "chaos.hpp"

#include "chaos_worker.hpp"
#include "number_from.hpp"
#include "test_authority.hpp"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

/// What all runs together have to come to, in numbers that say that the test has tested something.
struct experience {
    std::size_t faults = 0;
    std::set<std::string> kinds;
    std::map<recipe, std::size_t> grants;
    std::uint64_t direct_grants = 0;

    void add(const chaos_outcome& outcome) {
        for (const auto& [kind, times] : outcome.faults) {
            kinds.insert(kind);
            faults += times;
        }
        for (const auto& [what, judged] : outcome.judged) {
            grants[what] += judged.grants;
        }
        direct_grants += outcome.direct_grants;
    }

    [[nodiscard]] bool has_grants(std::size_t recipes, std::size_t of_each) const {
        return grants.size() == recipes && std::ranges::all_of(grants, [of_each](const auto& g) {
                   return g.second >= of_each;
               });
    }
};

/// Runs with one seed after the other until there is enough: slow machines need more of them. The
/// first seed is LATCHKEY_CHAOS_SEED, or any. The faults and the turns are the same for the same
/// seed; what the machine makes of them is not.
template <class Enough>
void run_until(Enough enough, chaos_options o) {
    experience all;
    o.seed = number_from("LATCHKEY_CHAOS_SEED", std::random_device()());
    for (int runs = 0; runs < 8 && !enough(all); ++runs, ++o.seed) {
        const test_folder folder;
        o.folder = folder.path("");
        std::cout << "LATCHKEY_CHAOS_SEED=" << o.seed << std::endl;
        const chaos_outcome outcome = run_chaos(o, std::cout);
        std::ostringstream report;
        print(report, o, outcome);
        print_table(report, {outcome});
        std::cout << report.str();
        ASSERT_TRUE(outcome.fine()) << report.str() << "LATCHKEY_CHAOS_SEED=" << o.seed;
        all.add(outcome);
    }
    EXPECT_TRUE(enough(all)) << all.faults << " faults of " << all.kinds.size() << " kinds";
}

// All recipes at once, each on paths of its own: what is broken is broken for all.
TEST(Chaos, NobodyIsFooledAndNothingIsLostUnderRandomFaults) {
    run_until(
        [](const experience& e) {
            return e.faults >= 8 && e.kinds.size() >= 4 && e.has_grants(all_recipes.size(), 10);
        },
        {.duration = 8s,
         .session_timeout = 2000ms,
         .recipes = {all_recipes.begin(), all_recipes.end()},
         .processes = 2,
         .locks = 2,
         .storm = 8s,
         .patience = 12s});
}

TEST(Chaos, HandOffsByDatagramsThatAreLostLateAndDoubledFoolNobody) {
    run_until(
        [](const experience& e) {
            return e.faults >= 4 && e.has_grants(4, 10) && e.direct_grants > 0;
        },
        {.duration = 8s,
         .session_timeout = 2000ms,
         .recipes =
             {recipe::mutex, recipe::shared_mutex, recipe::leader_latch, recipe::leader_selector},
         .processes = 4,
         .locks = 1,
         .storm = 8s,
         .direct = true,
         .patience = 12s});
}

// With objects of each thread, and some that all threads of a process share, with and without
// local_passes and retain_for, side by side.
TEST(Storm, HoldsNeverOverlapTokensIncreaseAndNothingStaysBehind) {
    const std::chrono::seconds time(number_from("LATCHKEY_STORM_SECONDS", 3));
    run_until([](const experience& e) { return e.has_grants(1, 100); },
              {.duration = time,
               .recipes = {recipe::kept_mutex},
               .processes = 8,
               .threads = 4,
               .storm = time,
               .faults = false,
               .brisk = true,
               .patience = 12s});
}

}  // namespace
}  // namespace latchkey::test

int main(int argc, char** argv) {
    if (latchkey::test::chaos_worker.run_if_named(argc, argv)) {
        return 0;
    }
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}

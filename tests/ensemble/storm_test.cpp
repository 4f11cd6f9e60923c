// Many processes and threads contend for a few locks on real servers; what each of them held, and
// when, is compared afterwards. LATCHKEY_STORM_SECONDS=60 makes a long one of it.
#include <latchkey/client.hpp>
#include <latchkey/mutex.hpp>

#include "child_process.hpp"
#include "held_intervals.hpp"
#include "number_from.hpp"
#include "real_ensemble.hpp"
#include "storm_worker.hpp"
#include "world.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace latchkey::test {
namespace {

constexpr int processes = 8;

std::chrono::seconds duration() {
    return std::chrono::seconds(
        std::max<std::uint64_t>(1, number_from("LATCHKEY_STORM_SECONDS", 3)));
}

using histories = std::map<int, intervals>;

std::size_t holds_of(const histories& all) {
    std::size_t holds = 0;
    for (const auto& [lock, history] : all) {
        holds += history.size();
    }
    return holds;
}

/// Runs all workers, and adds what they held, by lock.
void run_storm(const storm_order& order, const std::filesystem::path& folder, histories& all) {
    std::vector<std::pair<child_process, std::string>> workers;
    for (int i = 0; i < processes; ++i) {
        storm_order o = order;
        o.use = static_cast<storm_order::objects>(i % 3);
        o.history = folder / std::to_string(i);
        workers.emplace_back(child_process(worker_arguments(o)), o.history);
    }
    for (auto& [process, file] : workers) {
        EXPECT_EQ(process.wait(), 0);
        for (const held_interval& i : read_history(file)) {
            all[i.lock].push_back(i);
        }
    }
}

TEST(Storm, HoldsNeverOverlapTokensIncreaseAndNothingStaysBehind) {
    const real_ensemble& ensemble = real_ensemble::shared();
    const auto folder =
        std::filesystem::temp_directory_path() / ("latchkey-storm-" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder);
    const storm_order order{.servers = ensemble.connect_string(),
                            .directory = real_ensemble::fresh_path(),
                            .duration = duration(),
                            .history = {}};
    histories all;
    const auto enough = [&] {
        return static_cast<int>(all.size()) == order.locks && holds_of(all) > 100;
    };
    for (int storms = 0; storms < 20 && !enough(); ++storms) {  // a slow machine needs more of them
        run_storm(order, folder, all);
    }
    std::filesystem::remove_all(folder);
    EXPECT_TRUE(enough()) << holds_of(all) << " holds of " << all.size() << " locks";
    for (const auto& [lock, history] : all) {
        EXPECT_EQ(not_one_after_the_other(history), "") << order.path(lock);
    }
    const std::size_t holds = holds_of(all);
    RecordProperty("holds", static_cast<int>(holds));
    std::printf("%zu holds of %d locks by %d threads in %d processes\n",
                holds,
                order.locks,
                processes * order.threads,
                processes);

    // The clients have closed, and closing drains: nothing is waited for here.
    client zk = client::connect(order.servers);
    catch_up(zk);
    for (int lock = 0; lock < order.locks; ++lock) {
        EXPECT_THAT(mutex(zk, order.path(lock)).participants(), testing::IsEmpty());
    }
}

}  // namespace
}  // namespace latchkey::test

int main(int argc, char** argv) {
    if (latchkey::test::is_worker(argc, argv)) {
        return latchkey::test::run_worker(argv);
    }
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}

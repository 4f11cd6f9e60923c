// What a lock alone does for data outside ZooKeeper, and what tokens and guarded transactions do;
// `scripts/soak lost-updates` runs it.
#include "lost_updates.hpp"
#include "real_ensemble.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <random>
#include <string>

#include <unistd.h>

namespace latchkey::test {
namespace {

lost_updates_outcome run(guard by, const real_ensemble& servers, std::chrono::seconds duration) {
    const auto folder =
        std::filesystem::temp_directory_path() / ("latchkey-updates-" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder);
    const auto outcome = run_lost_updates({.by = by,
                                           .servers = servers.connect_string(),
                                           .path = real_ensemble::fresh_path(),
                                           .folder = folder,
                                           .seed = std::random_device()(),
                                           .duration = duration});
    std::filesystem::remove_all(folder);
    return outcome;
}

/// `seconds` for each way of guarding.
int compare(std::chrono::seconds seconds) {
    const real_ensemble servers;
    std::printf("%-20s %14s %8s %8s %8s %8s %8s\n",
                "updates guarded by",
                "acknowledged",
                "unknown",
                "refused",
                "applied",
                "lost",
                "stops");
    bool fine = true;
    for (const guard by : {guard::nothing, guard::token, guard::transaction}) {
        const lost_updates_outcome o = run(by, servers, seconds);
        std::printf("%-20s %14zu %8zu %8zu %8zu %8zu %8zu\n",
                    to_string(by),
                    o.acknowledged,
                    o.unknown,
                    o.refused,
                    o.applied,
                    o.lost(),
                    o.stops);
        std::fflush(stdout);
        // Without a guard updates are lost; if they were not, the others would prove nothing.
        const bool expected = (o.lost() > 0) == (by == guard::nothing) &&
                              o.applied <= o.acknowledged + o.unknown && o.trouble.empty();
        std::printf("%s%s", o.trouble.c_str(), expected ? "" : "NOT AS EXPECTED\n");
        fine = fine && expected;
    }
    return fine ? 0 : 1;
}

}  // namespace
}  // namespace latchkey::test

int main(int argc, char** argv) {
    if (latchkey::test::is_updater(argc, argv)) {
        return latchkey::test::run_updater(argv);
    }
    try {
        if (argc > 2) {
            std::cerr << "Usage: lost_updates [SECONDS]   so long for each way of guarding\n";
            return 64;
        }
        return latchkey::test::compare(std::chrono::seconds(argc == 2 ? std::stoi(argv[1]) : 60));
    } catch (const std::exception& e) {
        std::cerr << "lost_updates: " << e.what() << '\n';
        return 1;
    }
}

#pragma once

#include "number_from.hpp"
#include "simulation.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <string>

#include <gtest/gtest.h>

namespace latchkey::simulation {

/// Runs as many seeds as that, from the one that `how` names; a broken promise fails the test.
/// LATCHKEY_SEED runs one seed again; LATCHKEY_SEEDS runs another number of them.
inline figures run_seeds(options how, std::uint64_t count) {
    const bool one = std::getenv("LATCHKEY_SEED") != nullptr;
    how.seed = test::number_from("LATCHKEY_SEED", how.seed);
    count = one ? 1 : test::number_from("LATCHKEY_SEEDS", count);
    figures sum;
    for (const std::uint64_t end = how.seed + count; how.seed < end; ++how.seed) {
        const verdict v = simulate(how);
        sum += v.counts;
        for (const violation& broken : v.violations) {
            ADD_FAILURE() << to_string(how.recipe) << ", " << to_string(how.where) << ", seed "
                          << how.seed << ": " << broken.invariant << " at "
                          << broken.at / std::chrono::milliseconds(1) << " ms: " << broken.text;
            return sum;
        }
    }
    return sum;
}

inline by_fault<double> only(std::initializer_list<fault> enabled) {
    by_fault<double> weights{};
    for (const fault f : enabled) {
        weights[index_of(f)] = 1;
    }
    return weights;
}

/// All that befalls an ensemble without operators and without programs that end.
inline by_fault<double> faults_of_network_servers_and_clients() {
    return only({fault::request_lost,
                 fault::answer_lost,
                 fault::connection_cut,
                 fault::unreachable,
                 fault::paused,
                 fault::server_stopped,
                 fault::follower_isolated,
                 fault::leader_isolated,
                 fault::server_late});
}

inline constexpr std::array every_corner{corner::cut_off,
                                         corner::woken_up,
                                         corner::taken_away,
                                         corner::crowded,
                                         corner::unresolved,
                                         corner::timed,
                                         corner::deep,
                                         corner::direct};

/// "cutoff"
inline std::string name_of_corner(const ::testing::TestParamInfo<corner>& c) {
    std::string name = to_string(c.param);
    std::erase(name, '-');
    return name;
}

}  // namespace latchkey::simulation

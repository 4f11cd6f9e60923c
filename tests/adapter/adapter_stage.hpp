#pragma once

#include "ensemble/virtual/random_source.hpp"
#include "name_service.hpp"
#include "network.hpp"
#include "simulation.hpp"

#include <chrono>
#include <ostream>
#include <string>
#include <string_view>

namespace latchkey::test {

/// What users of a run share.
struct adapter_stage {
    testing::ensemble& servers;
    network& net;
    model::random_source random;
    adapter_run& result;
    std::ostream* tale;
    bool faults = true;       ///< still come
    bool quiet = false;       ///< all has been well for long, and nothing is asked
    bool survivable = false;  ///< connections break, and one server can always be reached
    name_service& names;
    bool named = false;  ///< servers are given by names
    bool large = false;  ///< some requests are

    void broken(const char* promise, const std::string& what) {
        tell("BROKEN " + std::string(promise) + ": " + what);
        result.violations.push_back({promise, what});
    }

    void broken_if(bool so, const char* promise, std::string_view what) {
        if (so) {
            broken(promise, std::string(what));
        }
    }

    void tell(const std::string& what) const {
        if (tale != nullptr) {
            const auto at = std::chrono::duration_cast<std::chrono::microseconds>(servers.now());
            *tale << at.count() % 1'000'000'000 << ": " << what << '\n';
        }
    }

    [[nodiscard]] bool chance(unsigned percent) { return random.below(100) < percent; }
};

}  // namespace latchkey::test

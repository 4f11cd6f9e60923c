#pragma once

#include <latchkey/ensemble.hpp>

#include "session/runtime.hpp"

#include <cstdint>
#include <memory>

namespace latchkey::inline v0 {
class virtual_loop;
}

namespace latchkey::model {
class cluster;
}

namespace latchkey::inline v0::testing {

/// What the library itself needs of an ensemble, and users do not.
struct ensemble_access {
    /// What a client of the ensemble runs on. Each call makes one for a program of its own, which
    /// pause(), suspend() and black_hole() affect as a whole.
    ///
    /// `callbacks` makes, if threaded, a thread; if stepped, events of the loop. The runtime may
    /// outlive the ensemble. No server can be reached then, and if stepped, nothing happens at all.
    [[nodiscard]] static runtime runtime_of(ensemble& e);

    [[nodiscard]] static virtual_loop& loop_of(ensemble& e);

    /// The parts of the ensemble. On the loop only.
    [[nodiscard]] static model::cluster& cluster_of(ensemble& e);

    /// Whether all servers that serve have applied the same log, with the same result.
    [[nodiscard]] static bool servers_agree(ensemble& e);
};

[[nodiscard]] inline runtime runtime_of(ensemble& e) {
    return ensemble_access::runtime_of(e);
}

}  // namespace latchkey::inline v0::testing

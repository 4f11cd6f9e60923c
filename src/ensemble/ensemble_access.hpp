#pragma once

#include <latchkey/ensemble.hpp>

#include "session/runtime.hpp"

#include <cstdint>
#include <memory>

namespace latchkey {
class virtual_loop;
}

namespace latchkey::model {
class cluster;
}

namespace latchkey::testing {

/// What the library itself needs of an ensemble and users do not.
struct ensemble_access {
    /// What a client of the ensemble runs on; each call makes one as for a program of its own, that
    /// pause(), suspend() and black_hole() concern as a whole.
    ///
    /// `callbacks` gives, threaded, a thread of its own; stepped, events of the loop. It may
    /// outlive the ensemble; then no server can be reached any more, and stepped, nothing happens
    /// at all.
    [[nodiscard]] static runtime runtime_of(ensemble& e);

    [[nodiscard]] static virtual_loop& loop_of(ensemble& e);

    /// What it is made of; on the loop only.
    [[nodiscard]] static model::cluster& cluster_of(ensemble& e);

    /// All servers that serve have applied the same log to the same effect.
    [[nodiscard]] static bool servers_agree(ensemble& e);
};

[[nodiscard]] inline runtime runtime_of(ensemble& e) {
    return ensemble_access::runtime_of(e);
}

}  // namespace latchkey::testing

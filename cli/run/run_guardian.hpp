#pragma once

#include <latchkey/client_options.hpp>

#include "options/run_options.hpp"
#include "output/status_output.hpp"

namespace latchkey::cli {

/// If latchkey is killed, the guardian ends the session, once everything that the command started
/// is dead.
class run_guardian {
public:
    /// Starts it, ahead of the supervisor.
    run_guardian(const run_options& options, const status_output& output);

    /// The options of the client that it guards.
    [[nodiscard]] client_options guarded(client_options how) const;

    /// False: it is not installed.
    [[nodiscard]] bool is_there() const noexcept { return there_; }

private:
    bool there_ = true;
};

}  // namespace latchkey::cli

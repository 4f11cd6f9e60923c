#include "run/run_guardian.hpp"

#include <latchkey/error.hpp>

#include "guardian/guardian_process.hpp"

namespace latchkey::cli {

run_guardian::run_guardian(const run_options& options, const status_output& output) {
    try {
        forbid_end_of_sessions({});
    } catch (const error& e) {
        output.event("unguarded", e.what());
        there_ = false;
        return;
    }
    if (options.command.empty()) {
        allow_end_of_sessions();
    }
}

client_options run_guardian::guarded(client_options how) const {
    if (there_) {
        how.guardian.emplace();
    }
    return how;
}

}  // namespace latchkey::cli

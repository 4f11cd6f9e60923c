#pragma once

#include "options/run_options.hpp"
#include "output/signals.hpp"
#include "run/held_resource.hpp"
#include "run/loss_command.hpp"
#include "run/run_report.hpp"

#include <list>

namespace latchkey::cli {

/// What a run does when it has lost what it held, or is about to: it says so, and runs the command
/// of --on-lost. Once for each hold. The destructor waits for the ends of those commands.
class loss_reaction {
public:
    /// All must outlive this object.
    loss_reaction(const run_options& options, const run_report& report, const signals& inherited)
        : options_(options), report_(report), inherited_(inherited) {}

    /// What comes from now on concerns another hold.
    void begin() noexcept { has_come_ = false; }

    void on_loss(const held_resource& held, const char* consequence);

    /// Waits for the ends of the commands.
    void join() { commands_.clear(); }

private:
    const run_options& options_;
    const run_report& report_;
    const signals& inherited_;
    std::list<loss_command> commands_;
    bool has_come_ = false;
};

}  // namespace latchkey::cli

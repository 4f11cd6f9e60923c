#pragma once

#include "options/run_options.hpp"
#include "output/status_output.hpp"
#include "run/held_resource.hpp"
#include "run/run_kind.hpp"

#include <chrono>

namespace latchkey::cli {

/// What a run says on stderr about its hold and its command.
class run_report {
public:
    /// All must outlive this object.
    run_report(const status_output& output, const run_options& options, const run_kind& what)
        : output_(output), options_(options), kind_(what) {}

    // Events, which are printed if verbose.
    void acquired(const held_resource& held) const;
    void skipped() const;
    void started(int pid) const;
    void ended(int wait_status) const;
    void kept(std::chrono::nanoseconds owed) const;
    void hand_over_requested() const;
    void released() const;

    // Errors, which are printed always.
    void not_started(int error_number) const;
    void not_suspended() const;
    void lost(loss_reason why, const char* consequence) const;
    void held_too_long(const char* consequence) const;
    void survivors(int processes) const;
    void not_written() const;

private:
    const status_output& output_;
    const run_options& options_;
    const run_kind& kind_;
};

}  // namespace latchkey::cli

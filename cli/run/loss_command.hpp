#pragma once

#include "output/signals.hpp"
#include "supervisor/command_process.hpp"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace latchkey::cli {

/// The command of --on-lost: runs beside the end of the command that lost its hold, in a process
/// group of its own and with /dev/null as stdin. It has `limit`; then its process group is killed.
/// The destructor waits for its end.
class loss_command {
public:
    static constexpr std::chrono::seconds limit{10};

    /// Runs `text` with /bin/sh -c. If that cannot be started, it is as if it had ended.
    loss_command(const std::string& text,
                 const std::vector<environment_setting>& settings,
                 const signals& inherited);

    [[nodiscard]] bool has_ended() const noexcept { return ended_; }

private:
    std::atomic<bool> ended_ = false;
    std::jthread waiting_;
};

}  // namespace latchkey::cli

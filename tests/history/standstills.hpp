#pragma once

#include "history.hpp"

#include <chrono>
#include <filesystem>
#include <vector>

namespace latchkey::history {

/// Times in which the servers logged and did not commit. They do that while they are broken; but
/// ZooKeeper 3.8 does it to itself, too, for a minute, when followers come back to a leader that
/// stood still, and that does not count what they acknowledge meanwhile (ZOOKEEPER-4685).
///
/// The servers alone say so: a session was proposed when the transaction log has it, and none of
/// them was "Committing global session" before `least` had passed. `server_logs` are what they have
/// written for people, with the time of the day at the beginning of each line.
[[nodiscard]] std::vector<disturbance> standstills(
    const history& h,
    const std::vector<std::filesystem::path>& server_logs,
    std::chrono::milliseconds least = std::chrono::seconds(1));

}  // namespace latchkey::history

#pragma once

namespace latchkey::test {

// Error codes of servers (ZooKeeper's KeeperException.Code) for which the client has no word of its
// own.

inline constexpr int inconsistency = -2;
inline constexpr int throttled = -127;

}  // namespace latchkey::test

#pragma once

#include "queue/queue_order.hpp"

#include <cstdint>
#include <cstdio>
#include <ostream>
#include <string>
#include <vector>

namespace latchkey {

/// For messages of failed tests.
inline void PrintTo(const queue_verdict& v, std::ostream* out) {
    *out << "answer " << static_cast<int>(v.what) << ", blocker <" << v.blocker << ">, " << v.ahead
         << " ahead";
}

namespace test {

using names = std::vector<std::string>;

inline constexpr const char* marker = "lock-";
inline constexpr queue_markers plain_names{.exclusive = marker};
inline const std::string curator = "_c_0c5b1cb5-6a32-4d2c-9d4b-5f5a9e6e1f10-";
inline const std::string ours = "_c_b7f3a1de-0b52-4b4f-8c8e-7c9a0b5f3d21-";
inline const std::string go_zk = "_c_97a4e9b2c1d84f0aa8c6b7a9d3e5f102-";

/// As the servers write it: ten places, the sign among them.
inline std::string numbered(const std::string& prefix, std::int64_t sequence) {
    char text[32];
    std::snprintf(text, sizeof text, "%010lld", static_cast<long long>(sequence));
    return prefix + marker + text;
}

}  // namespace test
}  // namespace latchkey

#pragma once

#include "queue/queue_order.hpp"

#include <chrono>
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
inline const std::string delayed = "_c_9b3f7c1e-5a64-4c1d-8f0e-2d6b7a90c3d4-";
inline const std::string go_zk = "_c_97a4e9b2c1d84f0aa8c6b7a9d3e5f102-";

/// As the servers write it: ten places, the sign among them.
inline std::string numbered(const std::string& prefix,
                            std::int64_t sequence,
                            const char* ending = marker) {
    char text[32];
    std::snprintf(text, sizeof text, "%010lld", static_cast<long long>(sequence));
    return prefix + ending + text;
}

/// Names written briefly. "o5", "c5" and "g5" are participants of a lock: one of ours, Curator's
/// and go-zookeeper's. "l5" and "L5" are ours, the latter with a delay, and "d5" is the record of
/// L5's delay. "r5", "w5" and "W5" are a reader, a writer and a writer with a delay. "@a5" is the
/// candidate a. "o:text" begins like ours, and any other name is written out.
inline std::string written_out(const std::string& brief) {
    const auto at = brief.find_first_of("-0123456789");
    const std::string kind = brief.substr(0, at);
    const std::string own = "_c_" + brief + '-';
    const auto with = [&](const std::string& begin, const char* ending) {
        return numbered(begin, std::stoll(brief.substr(at)), ending);
    };
    if (brief.starts_with("o:")) {
        return ours + brief.substr(2);
    }
    if (at == std::string::npos || (kind.size() != 1 && kind[0] != '@')) {
        return brief;
    }
    switch (kind[0]) {
        case 'o':
            return with(ours, "lock-");
        case 'c':
            return with(curator, "lock-");
        case 'g':
            return with(go_zk, "lock-");
        case 'l':
            return with(delayed, "lock-");
        case 'L':
            return with(delayed, "delay-lock-");
        case 'd':
            return name_of_delay(std::chrono::seconds(30), with(delayed, "delay-lock-"));
        case 'r':
            return with(own, "__READ__");
        case 'w':
            return with(own, "__WRIT__");
        case 'W':
            return with(delayed, "delay-__WRIT__");
        case '@':
            return with("_c_" + kind.substr(1) + '-', "latch-");
        default:
            return brief;
    }
}

}  // namespace test
}  // namespace latchkey

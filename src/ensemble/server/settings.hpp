#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace latchkey::model {

/// How an ensemble behaves; see latchkey::testing::ensemble::options.
struct settings {
    using duration = std::chrono::nanoseconds;

    int servers = 3;
    duration one_way{};
    duration jitter{};
    duration between_servers{};
    duration tick{};
    duration min_timeout{};
    duration max_timeout{};
    int sync_limit = 5;
    duration election{};
    duration container_interval{};
    std::size_t max_request = 0xfffff;  ///< bytes, as `jute.maxbuffer`
    bool exists_needs_read = true;
    std::int64_t first_zxid = 0;     ///< those of the first leader are above it
    std::int64_t first_session = 0;  ///< the same for session ids, without the server's number
};

}  // namespace latchkey::model

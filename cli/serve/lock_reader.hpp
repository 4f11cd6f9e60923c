#pragma once

#include <latchkey/client.hpp>

#include "serve/reading.hpp"

#include <cstddef>
#include <stop_token>
#include <string>
#include <vector>

namespace latchkey::cli {

/// Reads all locks below some paths: walk_locks() for each path, then a second look at suspected
/// deadlocks. At most 64 requests are in flight.
class lock_reader {
public:
    lock_reader(client zk, std::vector<std::string> paths, std::size_t max_znodes)
        : zk_(std::move(zk)), paths_(std::move(paths)), max_znodes_(max_znodes) {}

    /// Blocks. Throws latchkey::error.
    [[nodiscard]] reading read(const std::stop_token& stop) const;

private:
    const client zk_;
    const std::vector<std::string> paths_;
    const std::size_t max_znodes_;
};

/// The waits among these queues, in the order of the queues, without those that alone would make
/// more than is left of `most`. Counts them in `left_out`.
[[nodiscard]] std::vector<lock_wait> bounded_waits(const std::vector<queue_view>& contended,
                                                   std::size_t most,
                                                   std::size_t& left_out);

}  // namespace latchkey::cli

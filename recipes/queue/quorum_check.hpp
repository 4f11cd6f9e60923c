#pragma once

#include "client/client_core.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace latchkey {

/// Waits until the session may be believed. A watch event that was buffered while this process
/// stood still proves nothing, and neither does a list of a follower that was left behind: only a
/// quorum write does. On the loop only; ends, without a call, when it is destroyed.
class quorum_check : public std::enable_shared_from_this<quorum_check> {
public:
    /// Told `ok` when it may be believed: at once, unless the znodes have to be looked for, or
    /// after a write. Any other code is the answer to that: `no_node` if one of the own znodes is
    /// gone.
    quorum_check(std::shared_ptr<client_core> core,
                 std::vector<std::string> znodes,
                 std::function<void(result_code)> done,
                 bool look_for_them = false)
        : core_(std::move(core)),
          znodes_(std::move(znodes)),
          done_(std::move(done)),
          look_for_them_(look_for_them),
          next_(core_->loop()) {}

    /// While disconnected nothing happens: again with the next connection.
    void start();

private:
    const std::shared_ptr<client_core> core_;
    const std::vector<std::string> znodes_;
    const std::function<void(result_code)> done_;
    const bool look_for_them_;
    timer next_;
};

}  // namespace latchkey

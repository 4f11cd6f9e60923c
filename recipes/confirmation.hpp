#pragma once

#include "backoff.hpp"
#include "client_core.hpp"

#include <functional>
#include <memory>
#include <string>

namespace latchkey {

/// Waits until the session may be believed. A watch event that was buffered while this process
/// stood still proves nothing, and neither does a list of a follower that was left behind: only a
/// quorum write does. On the loop only; ends, without a call, when it is destroyed.
class confirmation : public std::enable_shared_from_this<confirmation> {
public:
    /// Told `ok` when it may be believed: at once, or after a write. Any other code is the answer
    /// to that: `no_node` if the own znode at `path` is gone.
    confirmation(std::shared_ptr<client_core> core,
                 std::string path,
                 std::function<void(result_code)> done)
        : core_(std::move(core)),
          path_(std::move(path)),
          done_(std::move(done)),
          retry_(core_->loop()) {}

    /// While disconnected nothing happens: again with the next connection.
    void start();

private:
    const std::shared_ptr<client_core> core_;
    const std::string path_;
    const std::function<void(result_code)> done_;
    timer retry_;
    backoff backoff_{std::chrono::milliseconds(10), std::chrono::seconds(1)};
};

}  // namespace latchkey

#pragma once

#include "client/client_core.hpp"
#include "loop/task.hpp"
#include "session/request.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace latchkey::inline v0 {

/// Very many reads for the tasks of one thread, which run inside take(). They go in groups: the
/// questions of a group are asked in order on one connection, and asked again together if it
/// breaks. At most 64 requests are in flight, and as many are while enough were asked: the loop
/// sends the next group without waiting for the thread. What is still under way at the end of this
/// object is not sent any more, or its answers are dropped.
class read_window {
public:
    /// So many questions may be unanswered, and as many answers may wait for the thread.
    static constexpr std::size_t enough = 256;

    explicit read_window(std::shared_ptr<client_core> core);
    read_window(const read_window&) = delete;
    read_window& operator=(const read_window&) = delete;
    ~read_window();

    /// Asks a group of questions, with the next take(). Keeps the first `most_data` bytes of the
    /// data in each answer. Refusals are in the replies.
    [[nodiscard]] oneshot<std::vector<reply>> read(std::vector<request> questions,
                                                   std::size_t most_data);

    /// How many questions were asked whose answers were not taken.
    [[nodiscard]] std::size_t open() const noexcept { return open_; }

    /// The newest time in all answers, in milliseconds since 1970. The servers may know a newer
    /// one.
    [[nodiscard]] std::int64_t newest() const noexcept { return newest_; }

    /// Waits until there are answers, and at most `enough` questions without one: then it is time
    /// to ask more. The tasks that wait for these answers go on inside this call. Only while
    /// questions are open. Blocks; an interruption point of Boost.Thread. Throws errc::unreachable,
    /// closed, forked, would_deadlock.
    void take();

private:
    class sender;

    struct group {
        std::vector<request> questions;
        std::size_t most_data = 0;
        std::function<void(std::vector<reply>)> answered;  ///< called on the thread
        std::vector<reply> replies = {};
    };

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<sender> sender_;
    std::vector<group> added_;
    std::size_t open_ = 0;
    std::int64_t newest_ = 0;
};

}  // namespace latchkey::inline v0

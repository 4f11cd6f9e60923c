#pragma once

#include "client/client_core.hpp"
#include "client/failure.hpp"
#include "session/request.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace latchkey::inline v0 {

/// Very many reads for one thread, which adds some whenever others are answered. They go in groups:
/// the questions of a group are asked in order on one connection, and asked again together if it
/// breaks. At most 64 requests are in flight, and as many are while enough were added: the loop
/// sends the next group without waiting for the thread. Used by one thread. What is still under way
/// at the end of this object is not sent any more, or its answers are dropped.
class read_window {
public:
    /// So many questions may be unanswered, and as many answers may wait for the thread.
    static constexpr std::size_t enough = 256;

    explicit read_window(std::shared_ptr<client_core> core);
    read_window(const read_window&) = delete;
    read_window& operator=(const read_window&) = delete;
    ~read_window();

    /// Keeps the first `most_data` bytes of the data in each answer. Returns the number of the
    /// group. It begins with the next take().
    std::size_t add(std::vector<request> questions, std::size_t most_data);

    /// How many questions were added whose answers were not taken.
    [[nodiscard]] std::size_t open() const noexcept { return open_; }

    struct answered {
        std::size_t group = 0;
        std::vector<reply> replies = {};
    };

    /// Waits until there are answers, and at most `enough` questions without one: then it is time
    /// to add more. Only after add(). Blocks; an interruption point of Boost.Thread. Throws
    /// errc::unreachable, closed, forked, would_deadlock. Refusals are in the replies.
    [[nodiscard]] std::vector<answered> take();

private:
    class sender;
    struct group;

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<sender> sender_;
    std::vector<group> added_;
    std::size_t count_ = 0;
    std::size_t open_ = 0;
};

}  // namespace latchkey::inline v0

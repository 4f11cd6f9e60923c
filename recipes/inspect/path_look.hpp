#pragma once

#include <latchkey/inspect.hpp>

#include "client/read_window.hpp"
#include "loop/task.hpp"
#include "session/failure.hpp"
#include "session/request.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace latchkey::inline v0 {

/// Where the answers for a look come from: a window, on whose thread the tasks of the look run.
class look_source {
public:
    explicit look_source(read_window& w) : window_(w) {}

    look_source(const look_source&) = delete;
    look_source& operator=(const look_source&) = delete;
    virtual ~look_source() = default;

    /// One answer for each question; at once if there is none. They are asked in this order, on one
    /// connection. Keeps the first `most_data` bytes of the data in each answer.
    [[nodiscard]] virtual task<std::vector<reply>> read(std::vector<request> questions,
                                                        std::size_t most_data);

    /// The newest time that the servers have shown, in milliseconds.
    [[nodiscard]] std::int64_t newest() const noexcept { return window_.newest(); }

private:
    read_window& window_;
};

/// What one look at a path has found. inspect() looks at one path, walk_locks() at many at a time.
struct path_look {
    queue_view view = {};

    /// The path's own znode, with the names of its children, sorted; or why it was refused.
    reply znode = {};

    /// Whether the second half asks for the stat of each child, because neither the names nor the
    /// data show the kind of the path. Then it reads nothing but children.
    bool asks_for_children = false;

    std::size_t waiting = 0;  ///< how many participants wait, with those that are left out

    /// All holders left while this looked, or a waiter of a semaphore, which may hold now.
    bool missed_the_holders = false;
};

// Each of these ends with why a server has refused it, or without a failure. What they refer to
// outlives them.

/// The first half of a look at `look.view.path`: reads the list of the children and the data.
[[nodiscard]] task<failure> read_path(look_source& servers, path_look& look);

/// The second half. Without `waiters`, participants of a queue that cannot hold are not read and
/// not shown.
[[nodiscard]] task<failure> read_participants(look_source& servers, path_look& look, bool waiters);

}  // namespace latchkey::inline v0

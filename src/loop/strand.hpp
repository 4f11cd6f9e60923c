#pragma once

#include <latchkey/function.hpp>

#include <functional>
#include <memory>

namespace latchkey::inline v0 {

/// Runs tasks through an executor of the user's, one at a time and in order, whatever its threads.
///
/// The executor has at most one function at a time, which runs one task. If it destroys that
/// function without calling it, or throws, the tasks that wait are destroyed; later ones are handed
/// over again. In a forked child nothing runs and nothing is destroyed. Tasks must not throw.
class strand {
public:
    using task = move_only_function<void()>;
    using executor = std::function<void(task)>;

    explicit strand(executor to);

    /// Any thread.
    void run(task t);

private:
    class queue;
    class turn;

    std::shared_ptr<queue> queue_;  ///< not const: what moves a strand keeps no reference
};

}  // namespace latchkey::inline v0

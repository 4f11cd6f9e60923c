#pragma once

#include <deque>
#include <functional>
#include <mutex>

namespace latchkey::cli {

/// Tasks that the library's threads post to the main thread, which polls a file descriptor.
class main_thread_queue {
public:
    using task = std::function<void()>;

    main_thread_queue();
    main_thread_queue(const main_thread_queue&) = delete;
    main_thread_queue& operator=(const main_thread_queue&) = delete;
    ~main_thread_queue();

    /// Any thread.
    void post(task t);

    /// Readable while there are tasks.
    [[nodiscard]] int fd() const noexcept { return fd_; }

    /// Runs the tasks posted so far, in their order. What a task throws ends the call, and drops
    /// the tasks after it.
    void run();

private:
    std::mutex mutex_;
    std::deque<task> tasks_;
    int fd_;
};

}  // namespace latchkey::cli

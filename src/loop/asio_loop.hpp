#pragma once

#include "loop/io_loop.hpp"

#include <cstdint>
#include <memory>

namespace latchkey::inline v0 {

/// The process's event thread: tasks, timers and sockets on one Boost.Asio io_context and one
/// thread, which blocks all signals.
///
/// post() locks a mutex briefly, and wakes the thread only if it may be asleep. Timers run on
/// CLOCK_BOOTTIME, so a timer that fell due while the machine was suspended runs at once after
/// that. Destruction drops what has not run. From another thread it waits for the task that runs;
/// on the loop's own thread it returns, and the thread ends after that task. In a forked child the
/// loop of the parent is inert: post() and destruction do nothing.
class asio_loop final : public io_loop {
public:
    /// Throws std::system_error if there are no more descriptors or threads.
    asio_loop();
    ~asio_loop() override;

    [[nodiscard]] clock::time_point now() const noexcept override { return clock::now(); }

    void post(task t) override;
    timer_id start_timer(clock::time_point at, task t) override;
    void cancel_timer(timer_id id) noexcept override;
    [[nodiscard]] std::uint64_t random() override;
    [[nodiscard]] bool on_loop() const noexcept override;

    [[nodiscard]] std::unique_ptr<descriptor_watch> watch(int descriptor) override;
    void post_next(task t) override;

private:
    class engine;

    std::shared_ptr<engine> engine_;
    std::uint64_t born_;
};

}  // namespace latchkey::inline v0

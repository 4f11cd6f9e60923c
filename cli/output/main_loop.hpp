#pragma once

#include "output/signals.hpp"
#include "output/status_output.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>

namespace boost::asio {
class io_context;
}

namespace latchkey::cli {

/// What the main thread of a command waits for: signals, tasks of other threads, times and
/// descriptors, on one Boost.Asio io_context. It serves the watchdog of the unit. Used by the main
/// thread alone, except for post().
class main_loop {
public:
    using task = std::function<void()>;

    /// `arrived` must outlive this object.
    explicit main_loop(const signals& arrived);
    main_loop(const main_loop&) = delete;
    main_loop& operator=(const main_loop&) = delete;
    ~main_loop();

    /// Runs tasks until finish() is called, and returns its status. What a task throws ends the
    /// call. Signals that have arrived are handled before anything else.
    [[nodiscard]] int run();

    /// Runs until INT, TERM, HUP or QUIT arrives, and reports which. Returns success.
    [[nodiscard]] int run_until_ended(const status_output& output);

    /// The first status counts.
    void finish(int status) { status_ = status_.value_or(status); }

    [[nodiscard]] bool finished() const noexcept { return status_.has_value(); }

    /// Handles the signals that have arrived. False if the loop has ended. For a task that waits.
    bool take_signals();

    /// Any thread.
    void post(task t);

    void on_signal(std::function<void(int signal)> t) { on_signal_ = std::move(t); }

    /// Calls `t` whenever the descriptor is readable. It must not be closed while run() runs.
    void on_readable(int descriptor, task t);

    [[nodiscard]] boost::asio::io_context& io() noexcept;

private:
    friend class loop_timer;
    struct engine;

    void dispatch(const task& t);

    const signals& arrived_;
    std::function<void(int signal)> on_signal_;
    std::unique_ptr<engine> engine_;
    std::optional<int> status_;
};

/// One timer of a loop, which must outlive it.
class loop_timer {
public:
    explicit loop_timer(main_loop& loop);
    loop_timer(const loop_timer&) = delete;
    loop_timer& operator=(const loop_timer&) = delete;
    ~loop_timer();

    /// Replaces what was set before. The clock stands while the machine sleeps.
    void start(std::chrono::nanoseconds after, main_loop::task t);

    void cancel() noexcept { set_.reset(); }

private:
    struct waiting;

    main_loop& loop_;
    std::unique_ptr<waiting> waiting_;
    std::shared_ptr<main_loop::task> set_;
};

/// A call that blocks, on a thread of its own. The destructor requests its stop and waits for it.
class background_call {
public:
    /// Returns what the loop then runs. What it throws, the loop throws.
    using work = std::function<main_loop::task(const std::stop_token& stop)>;

    /// `loop` must outlive this object.
    explicit background_call(main_loop& loop) : loop_(loop) {}

    /// Not before the loop has run what the call before has returned.
    void start(work w);

    void request_stop() { thread_.request_stop(); }

    void stop_and_join() { thread_ = {}; }

private:
    main_loop& loop_;
    std::jthread thread_;
};

}  // namespace latchkey::cli

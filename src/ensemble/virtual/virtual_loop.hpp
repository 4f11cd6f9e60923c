#pragma once

#include <latchkey/error.hpp>
#include <latchkey/shared_ref.hpp>

#include "ensemble/virtual/random_source.hpp"
#include "ensemble/virtual/virtual_timers.hpp"
#include "loop/background_thread.hpp"
#include "loop/loop.hpp"
#include "loop/monitor.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace latchkey::inline v0 {

class virtual_process;

/// The loop of the in-process ensemble. Its owner steps it on a virtual clock, where the same seed
/// gives the same run; or one thread runs it, on a clock that can be moved forward.
///
/// Stepped, tasks that are due at the same time run in an order drawn from the seed, except that
/// posted tasks keep their order; the owner is "on the loop" also between two steps. Threaded,
/// timers run in the order of their times.
class virtual_loop final : public loop {
public:
    enum class mode : std::uint8_t { stepped, threaded };

    /// The thread of a threaded loop ends with the last reference. What it has not run is dropped.
    [[nodiscard]] static std::shared_ptr<virtual_loop> make(mode m, std::uint64_t seed);

    ~virtual_loop() override;

    [[nodiscard]] clock::time_point now() const noexcept override;
    void post(task t) override;
    timer_id start_timer(clock::time_point at, task t) override;
    void cancel_timer(timer_id id) noexcept override;
    [[nodiscard]] std::uint64_t random() override;

    /// Numbers that do not depend on what else is drawn.
    [[nodiscard]] model::random_source random_stream(std::string_view name) const {
        return random_.make(name);
    }

    [[nodiscard]] bool on_loop() const noexcept override;

    [[nodiscard]] bool stepped() const noexcept override { return mode_ == mode::stepped; }

    /// Runs the next event and moves the clock to it. Returns false if there is none. Stepped only.
    bool step();

    /// Lets `d` pass. Stepped, runs everything that falls due. Threaded, sleeps.
    void run_for(clock::duration d);

    /// Runs until `done()` is true or `limit` has passed, and returns the last answer of `done()`.
    /// `done()` is called between two events or, threaded, now and then on the calling thread.
    bool run_until(const std::function<bool()>& done, clock::duration limit);

    /// Lets `d` pass without waiting: events run in order, at their times. Threaded, do not call it
    /// on the loop; it returns when the clock has been moved by `d`.
    void advance(clock::duration d);

    /// Calls `f` on the loop and returns when `f` has. On the loop, or stepped, calls it at once.
    void call(const std::function<void()>& f);

    /// Whether this is a forked child, where the thread of a threaded loop does not exist: nothing
    /// runs, and call() and advance() throw errc::forked.
    [[nodiscard]] bool forked() const noexcept {
        return !stepped() && born_ != fork_aware_lock::generation();
    }

    void check_not_forked() const {
        if (forked()) {
            throw error(errc::forked,
                        "this ensemble is of the parent process: make another one in the child");
        }
    }

    /// A hash of everything that ran, with its order and times. Equal in two runs of one seed.
    [[nodiscard]] std::uint64_t trace() const noexcept { return trace_; }

    /// The number of the process whose task runs; 0 outside of all.
    [[nodiscard]] std::uint32_t running() const noexcept { return running_; }

    /// Adds to the trace.
    void mark(std::uint64_t what) noexcept;

    /// Drops everything that has not run, and everything that is posted from now on: the tasks may
    /// own objects that own the loop. Stepped only; a threaded loop does this when it ends.
    void abandon();

    [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }

private:
    friend class virtual_process;

    struct posted {
        task run;
        std::uint32_t process;
        timer_id timer = 0;  ///< of a timer that fell due while its process was stopped
    };

    struct process_state {
        model::random_source order;    ///< of what it does at one time
        model::random_source numbers;  ///< that it draws
        bool paused = false;
        std::deque<posted> deferred;
    };

    virtual_loop(mode m, std::uint64_t seed);

    std::uint32_t add_process();

    void post_as(std::uint32_t number, task t);
    /// `at` by the clock of the process, `due` by this loop's.
    timer_id start_timer_as(std::uint32_t number,
                            clock::time_point at,
                            clock::time_point due,
                            task t);
    void resume(std::uint32_t number);
    void collect();
    void run_posted();
    void run_timer();
    void run(std::uint32_t number, task t);
    void serve();
    void idle();
    void stop() noexcept;

    const mode mode_;
    const std::uint64_t born_ = fork_aware_lock::generation();
    std::atomic<clock::rep> time_;  ///< stepped: the time; threaded: what is added to the clock
    std::atomic<std::thread::id> runner_{};

    // On the loop only.
    virtual_timers timers_;
    std::deque<posted> ready_;
    std::vector<process_state> processes_;
    const model::random_streams random_;
    std::uint32_t running_ = 0;
    std::uint64_t trace_ = 0;
    std::uint64_t steps_ = 0;
    bool abandoned_ = false;

    // Shared between threads.
    thread_mutex mutex_;
    thread_condition wake_;
    thread_condition advanced_;
    std::deque<posted> incoming_;
    std::atomic<bool> has_incoming_{false};
    clock::duration to_advance_{};
    bool stopping_ = false;
    background_thread thread_;
};

}  // namespace latchkey::inline v0

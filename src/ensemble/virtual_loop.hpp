#pragma once

#include "ensemble/random_source.hpp"
#include "loop/loop.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <boost/thread/condition_variable.hpp>
#include <boost/thread/mutex.hpp>
#include <boost/thread/thread.hpp>

namespace latchkey {

/// The loop of the in-process ensemble: either stepped by its owner on a virtual clock, where the
/// same seed gives the same run, or run by one thread on a clock that can be moved forward.
///
/// Stepped, what is due at the same time runs in an order drawn from the seed, except that posted
/// tasks keep theirs; the owner is "on the loop" also between two steps. Threaded, timers run in
/// the order of their times.
class virtual_loop final : public loop {
public:
    enum class mode : std::uint8_t { stepped, threaded };

    /// What a process of its own would be: a loop that can be stopped, like with SIGSTOP, while the
    /// others run on. What falls due in the meantime runs late, in the order it fell due. It keeps
    /// the virtual loop alive.
    class process;

    /// The thread of a threaded loop ends with the last reference; what it had not run is dropped.
    [[nodiscard]] static std::shared_ptr<virtual_loop> make(mode m, std::uint64_t seed);
    [[nodiscard]] static std::shared_ptr<process> make_process(std::shared_ptr<virtual_loop> owner);

    ~virtual_loop() override;

    [[nodiscard]] clock::time_point now() const noexcept override;
    void post(task t) override;
    timer_id start_timer(clock::time_point at, task t) override;
    void cancel_timer(timer_id id) noexcept override;
    [[nodiscard]] std::uint64_t random() override;
    [[nodiscard]] bool on_loop() const noexcept override;

    [[nodiscard]] bool stepped() const noexcept override { return mode_ == mode::stepped; }

    /// Runs the next event, moving the clock to it; false if there is none. Stepped only.
    bool step();

    /// Lets `d` pass. Stepped: runs all that falls due. Threaded: sleeps.
    void run_for(clock::duration d);

    /// Until `done()` or until `limit` has passed; the last answer of `done()`, which is called
    /// between two events, or, threaded, now and then on the calling thread.
    bool run_until(const std::function<bool()>& done, clock::duration limit);

    /// Lets `d` pass without waiting for it: events run in order, at their times. Threaded: not on
    /// the loop; returns when the clock has been moved by `d`.
    void advance(clock::duration d);

    /// Calls `f` on the loop and returns when it is done. On the loop, or stepped: at once.
    void call(const std::function<void()>& f);

    /// A hash of all that ran, in order and with its times: equal in two runs of one seed.
    [[nodiscard]] std::uint64_t trace() const noexcept { return trace_; }

    /// Adds to the trace.
    void mark(std::uint64_t what) noexcept;

    /// Drops all that has not run, and all that is handed in from now on: what the tasks own may
    /// own the loop. Stepped only; a threaded loop does it when it ends.
    void abandon();

    [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }

private:
    struct slot {
        task run;
        clock::time_point at;  ///< by the clock of its process
        std::uint32_t generation = 1;
        std::uint32_t process = 0;
    };

    struct entry {
        clock::time_point at;
        std::uint64_t tie;
        timer_id id;
    };

    struct posted {
        task run;
        std::uint32_t process;
        timer_id timer = 0;  ///< of a timer that fell due while its process was stopped
    };

    struct process_state {
        bool paused = false;
        std::deque<posted> deferred;
    };

    virtual_loop(mode m, std::uint64_t seed);

    static bool later(const entry& a, const entry& b) noexcept;
    void post_as(std::uint32_t number, task t);
    /// `at` by the clock of the process, `due` by this loop's.
    timer_id start_timer_as(std::uint32_t number,
                            clock::time_point at,
                            clock::time_point due,
                            task t);
    void set_timers_again(const process& of);
    void pause(std::uint32_t number);
    void resume(std::uint32_t number);
    void collect();
    [[nodiscard]] const entry* next_timer();
    void run_posted();
    void run_timer();
    void run(std::uint32_t number, task t);
    [[nodiscard]] slot* find(timer_id id) noexcept;
    [[nodiscard]] task take(timer_id id) noexcept;
    void serve();
    void idle();
    void stop() noexcept;

    const mode mode_;
    std::atomic<clock::rep> time_;  ///< stepped: the time; threaded: what is added to the clock
    std::atomic<std::thread::id> runner_{};

    // On the loop only.
    std::vector<slot> slots_;
    std::vector<std::uint32_t> free_slots_;
    std::vector<entry> timers_;  ///< a heap; entries of forgotten timers stay until they come up
    std::deque<posted> ready_;
    std::vector<process_state> processes_{1};
    model::random_source schedule_;
    model::random_source numbers_;
    std::uint64_t trace_ = 0;
    std::uint64_t steps_ = 0;
    bool abandoned_ = false;

    // Shared between threads.
    boost::mutex mutex_;
    boost::condition_variable wake_;
    boost::condition_variable advanced_;
    std::deque<posted> incoming_;
    std::atomic<bool> has_incoming_{false};
    clock::duration to_advance_{};
    bool stopping_ = false;
    boost::thread thread_;
};

class virtual_loop::process final : public loop {
public:
    process(std::shared_ptr<virtual_loop> owner, std::uint32_t number) noexcept;

    /// The time of its own clock.
    [[nodiscard]] clock::time_point now() const noexcept override;

    void post(task t) override { owner_->post_as(number_, std::move(t)); }

    timer_id start_timer(clock::time_point at, task t) override {
        return owner_->start_timer_as(number_, at, due(at), std::move(t));
    }

    /// From now on its clock runs that many times as fast as the owner's, 0.5 to 2, in steps of a
    /// millionth; it does not jump. On the loop only.
    void set_clock_rate(double rate);

    /// When its clock will show `at`, by the owner's.
    [[nodiscard]] clock::time_point due(clock::time_point at) const noexcept;

    /// How long `d` of its clock is by the owner's, at the present rate.
    [[nodiscard]] clock::duration lasting(clock::duration d) const noexcept;

    void cancel_timer(timer_id id) noexcept override { owner_->cancel_timer(id); }

    [[nodiscard]] std::uint64_t random() override { return owner_->random(); }

    [[nodiscard]] bool on_loop() const noexcept override { return owner_->on_loop(); }

    [[nodiscard]] bool stepped() const noexcept override { return owner_->stepped(); }

    /// On the loop only.
    void pause() { owner_->pause(number_); }

    void resume() { owner_->resume(number_); }

    [[nodiscard]] bool paused() const noexcept { return owner_->processes_[number_].paused; }

    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }

private:
    /// How the clock has run since a moment.
    struct clock_rate {
        clock::time_point since;  ///< by the owner's clock
        clock::time_point shown;  ///< then, by this one
        std::int64_t millionths;
    };

    std::shared_ptr<virtual_loop> owner_;
    std::uint32_t number_;
    std::deque<clock_rate> rates_;  ///< all there were: other threads may still read an earlier one
    std::atomic<const clock_rate*> rate_{nullptr};  ///< none: the owner's clock
};

}  // namespace latchkey

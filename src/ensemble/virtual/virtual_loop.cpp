#include "ensemble/virtual/virtual_loop.hpp"

#include "ensemble/virtual/virtual_process.hpp"
#include "loop/background_thread.hpp"
#include "loop/callback_thread.hpp"
#include "loop/interruption.hpp"

#include <algorithm>
#include <utility>

#include <boost/thread/thread_only.hpp>

namespace latchkey::inline v0 {
namespace {

// Far from zero, so that "a long time before now" is a valid time in a stepped run, too.
constexpr std::chrono::hours start_of_stepped_time{24 * 365};

}  // namespace

virtual_loop::virtual_loop(mode m, std::uint64_t seed)
    : mode_(m),
      time_(m == mode::stepped ? clock::duration(start_of_stepped_time).count() : 0),
      random_(seed) {
    add_process();
}

std::uint32_t virtual_loop::add_process() {
    const auto number = static_cast<std::uint32_t>(processes_.size());
    processes_.push_back(
        {random_.make("order", number), random_.make("numbers", number), false, {}});
    return number;
}

virtual_loop::~virtual_loop() = default;

std::shared_ptr<virtual_loop> virtual_loop::make(mode m, std::uint64_t seed) {
    std::shared_ptr<virtual_loop> made(new virtual_loop(m, seed));
    if (m == mode::stepped) {
        return made;
    }
    // The thread keeps the loop itself alive. The references that are handed out only decide when
    // it ends, so a task of the loop may drop the last one.
    made->thread_ = background_thread("latchkey-model", [made] { made->serve(); });
    return {made.get(), [made](virtual_loop* l) { l->stop(); }};
}

loop::clock::time_point virtual_loop::now() const noexcept {
    const clock::duration t(time_.load(std::memory_order_relaxed));
    return stepped() ? clock::time_point(t) : clock::now() + t;
}

bool virtual_loop::on_loop() const noexcept {
    return runner_.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

std::uint64_t virtual_loop::random() {
    return processes_.front().numbers();
}

void virtual_loop::mark(std::uint64_t what) noexcept {
    trace_ = (std::rotl(trace_, 5) ^ what) * 0x9e3779b97f4a7c15U;
}

void virtual_loop::post(task t) {
    post_as(0, std::move(t));
}

loop::timer_id virtual_loop::start_timer(clock::time_point at, task t) {
    return start_timer_as(0, at, at, std::move(t));
}

void virtual_loop::post_as(std::uint32_t number, task t) {
    {
        const monitor_lock lock(mutex_);
        if (stopping_) {
            return;
        }
        incoming_.push_back({std::move(t), number, 0});
        has_incoming_.store(true, std::memory_order_release);
    }
    if (!stepped()) {
        wake_.notify_one();
    }
}

loop::timer_id virtual_loop::start_timer_as(std::uint32_t number,
                                            clock::time_point at,
                                            clock::time_point due,
                                            task t) {
    if (abandoned_) {
        return ~timer_id{0};
    }
    // Threaded, the older timer comes first: users expect that of a clock.
    const std::uint64_t tie = stepped() ? processes_[number].order() : ++steps_;
    return timers_.start(number, at, due, tie, std::move(t));
}

void virtual_loop::cancel_timer(timer_id id) noexcept {
    // Destroyed after the slot is free: the closure may own objects that start or cancel timers.
    const task forgotten = timers_.take(id);
}

void virtual_loop::resume(std::uint32_t number) {
    process_state& p = processes_[number];
    p.paused = false;
    while (!p.deferred.empty()) {
        ready_.push_front(std::move(p.deferred.back()));
        p.deferred.pop_back();
    }
}

void virtual_loop::collect() {
    if (!has_incoming_.load(std::memory_order_acquire)) {
        return;
    }
    const monitor_lock lock(mutex_);
    if (ready_.empty()) {
        ready_.swap(incoming_);
    } else {
        std::move(incoming_.begin(), incoming_.end(), std::back_inserter(ready_));
        incoming_.clear();
    }
    has_incoming_.store(false, std::memory_order_relaxed);
}

void virtual_loop::run(std::uint32_t number, task t) {
    mark(static_cast<std::uint64_t>(time_.load(std::memory_order_relaxed)) ^ number);
    ++steps_;
    const std::thread::id before = runner_.exchange(std::this_thread::get_id());
    const std::uint32_t outer = std::exchange(running_, number);
    t();
    t = nullptr;  // what it owned is destroyed while still on the loop
    running_ = outer;
    runner_.store(before);
}

void virtual_loop::run_posted() {
    posted p = std::move(ready_.front());
    ready_.pop_front();
    if (processes_[p.process].paused) {
        processes_[p.process].deferred.push_back(std::move(p));
        return;
    }
    if (p.timer != 0) {
        p.run = timers_.take(p.timer);
    }
    if (p.run) {
        run(p.process, std::move(p.run));
    }
}

void virtual_loop::run_timer() {
    const auto [id, process] = timers_.pop();
    if (processes_[process].paused) {
        processes_[process].deferred.push_back({{}, process, id});
        return;
    }
    run(process, timers_.take(id));
}

bool virtual_loop::step() {
    collect();
    const clock::time_point* const next = timers_.next_due();
    const bool due = next != nullptr && *next <= now();
    if (!ready_.empty() && (!due || (processes_[ready_.front().process].order() & 1U) != 0)) {
        run_posted();
        return true;
    }
    if (next == nullptr) {
        return false;
    }
    if (!due) {
        time_.store(next->time_since_epoch().count(), std::memory_order_relaxed);
    }
    run_timer();
    return true;
}

bool virtual_loop::run_until(const std::function<bool()>& done, clock::duration limit) {
    const clock::time_point end = now() + limit;
    if (!stepped()) {
        while (!done()) {
            if (now() >= end) {
                return done();
            }
            boost::this_thread::sleep_for(boost::chrono::microseconds(200));
        }
        return true;
    }
    while (!done()) {
        collect();
        const clock::time_point* const next = ready_.empty() ? timers_.next_due() : nullptr;
        if (ready_.empty() && (next == nullptr || *next > end)) {
            time_.store(end.time_since_epoch().count(), std::memory_order_relaxed);
            return false;
        }
        step();
    }
    return true;
}

void virtual_loop::run_for(clock::duration d) {
    if (stepped()) {
        run_until([] { return false; }, d);
    } else {
        boost::this_thread::sleep_for(boost::chrono::nanoseconds(d.count()));
    }
}

void virtual_loop::advance(clock::duration d) {
    if (stepped()) {
        run_for(d);
        return;
    }
    check_not_forked();
    monitor_lock lock(mutex_);
    to_advance_ += d;
    wake_.notify_one();
    while (to_advance_ > clock::duration::zero() && !stopping_) {
        lock.wait(advanced_);
    }
}

void virtual_loop::call(const std::function<void()>& f) {
    if (stepped() || on_loop()) {
        f();
        return;
    }
    check_not_forked();
    thread_mutex m;
    thread_condition finished;
    bool done = false;
    post([&] {
        f();
        const monitor_lock lock(m);
        done = true;
        finished.notify_one();
    });
    // A caller that is interrupted must not leave, because the task refers to its frame.
    const uninterrupted until_done;
    monitor_lock lock(m);
    while (!done) {
        lock.wait(finished);
    }
}

void virtual_loop::serve() {
    callback_thread::become_loop();
    runner_.store(std::this_thread::get_id());
    for (;;) {
        {
            const monitor_lock lock(mutex_);
            if (stopping_) {
                break;
            }
        }
        collect();
        const clock::time_point* const next = timers_.next_due();
        const bool due = next != nullptr && *next <= now();
        if (due) {
            run_timer();
        }
        if (!ready_.empty()) {
            run_posted();
        } else if (!due) {
            idle();
        }
    }
    abandon();
}

void virtual_loop::abandon() {
    std::deque<posted> incoming;
    {
        const monitor_lock lock(mutex_);
        stopping_ = true;
        incoming_.swap(incoming);
    }
    // Closures may own objects that post again or cancel timers. Take them out before they are
    // destroyed.
    abandoned_ = true;
    const std::deque<posted> ready = std::exchange(ready_, {});
    std::vector<task> forgotten = timers_.take_all();
    for (process_state& p : processes_) {
        forgotten.reserve(forgotten.size() + p.deferred.size());
        for (posted& d : std::exchange(p.deferred, {})) {
            forgotten.push_back(std::move(d.run));
        }
    }
}

void virtual_loop::idle() {
    monitor_lock lock(mutex_);
    if (stopping_ || !incoming_.empty()) {
        return;
    }
    const clock::time_point* const next = timers_.next_due();
    const clock::duration wait =
        next == nullptr ? clock::duration(std::chrono::hours(1)) : *next - now();
    if (to_advance_ > clock::duration::zero()) {
        const clock::duration by =
            next == nullptr ? to_advance_ : std::clamp(wait, clock::duration{}, to_advance_);
        time_.fetch_add(by.count(), std::memory_order_relaxed);
        to_advance_ -= by;
        advanced_.notify_all();
        return;
    }
    if (wait > clock::duration::zero()) {
        lock.wait_until(wake_, deadline_after(wait));
    }
}

void virtual_loop::stop() noexcept {
    {
        const monitor_lock lock(mutex_);
        stopping_ = true;
        wake_.notify_one();
        advanced_.notify_all();
    }
    if (thread_.runs_caller()) {
        thread_.detach();
    } else {
        thread_.join();
    }
}

}  // namespace latchkey::inline v0

#include "ensemble/virtual_loop.hpp"

#include <algorithm>
#include <utility>

#include <boost/chrono/duration.hpp>
#include <boost/thread/lock_guard.hpp>
#include <boost/thread/lock_types.hpp>

namespace latchkey {
namespace {

boost::chrono::nanoseconds for_boost(loop::clock::duration d) {
    return boost::chrono::nanoseconds(d.count());
}

}  // namespace

bool virtual_loop::step() {
    collect();
    const entry* const next = next_timer();
    const bool due = next != nullptr && next->at <= now();
    if (!ready_.empty() && (!due || (schedule_() & 1U) != 0)) {
        run_posted();
        return true;
    }
    if (next == nullptr) {
        return false;
    }
    if (!due) {
        time_.store(next->at.time_since_epoch().count(), std::memory_order_relaxed);
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
        const entry* const next = ready_.empty() ? next_timer() : nullptr;
        if (ready_.empty() && (next == nullptr || next->at > end)) {
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
        boost::this_thread::sleep_for(for_boost(d));
    }
}

void virtual_loop::advance(clock::duration d) {
    if (stepped()) {
        run_for(d);
        return;
    }
    boost::unique_lock<boost::mutex> lock(mutex_);
    to_advance_ += d;
    wake_.notify_one();
    while (to_advance_ > clock::duration::zero() && !stopping_) {
        advanced_.wait(lock);
    }
}

void virtual_loop::call(const std::function<void()>& f) {
    if (stepped() || on_loop()) {
        f();
        return;
    }
    boost::mutex m;
    boost::condition_variable finished;
    bool done = false;
    post([&] {
        f();
        const boost::lock_guard<boost::mutex> lock(m);
        done = true;
        finished.notify_one();
    });
    // A caller that is interrupted must not leave, because the task refers to its frame.
    const boost::this_thread::disable_interruption uninterrupted;
    boost::unique_lock<boost::mutex> lock(m);
    while (!done) {
        finished.wait(lock);
    }
}

void virtual_loop::serve() {
    runner_.store(std::this_thread::get_id());
    for (;;) {
        {
            const boost::lock_guard<boost::mutex> lock(mutex_);
            if (stopping_) {
                break;
            }
        }
        collect();
        const entry* const next = next_timer();
        const bool due = next != nullptr && next->at <= now();
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
        const boost::lock_guard<boost::mutex> lock(mutex_);
        stopping_ = true;
        incoming_.swap(incoming);
    }
    // Closures may own objects that post again or cancel timers. Take them out before they are
    // destroyed.
    abandoned_ = true;
    timers_.clear();
    const std::deque<posted> ready = std::exchange(ready_, {});
    std::vector<task> forgotten;
    for (std::uint32_t i = 0; i < slots_.size(); ++i) {
        const timer_id id = (static_cast<timer_id>(slots_[i].generation) << 32U) | i;
        if (task run = take(id)) {
            forgotten.push_back(std::move(run));
        }
    }
    for (process_state& p : processes_) {
        forgotten.reserve(forgotten.size() + p.deferred.size());
        for (posted& d : std::exchange(p.deferred, {})) {
            forgotten.push_back(std::move(d.run));
        }
    }
}

void virtual_loop::idle() {
    boost::unique_lock<boost::mutex> lock(mutex_);
    if (stopping_ || !incoming_.empty()) {
        return;
    }
    const entry* const next = next_timer();
    const clock::duration wait =
        next == nullptr ? clock::duration(std::chrono::hours(1)) : next->at - now();
    if (to_advance_ > clock::duration::zero()) {
        const clock::duration by =
            next == nullptr ? to_advance_ : std::clamp(wait, clock::duration{}, to_advance_);
        time_.fetch_add(by.count(), std::memory_order_relaxed);
        to_advance_ -= by;
        advanced_.notify_all();
        return;
    }
    if (wait > clock::duration::zero()) {
        wake_.wait_for(lock, for_boost(wait));
    }
}

void virtual_loop::stop() noexcept {
    {
        const boost::lock_guard<boost::mutex> lock(mutex_);
        stopping_ = true;
        wake_.notify_one();
        advanced_.notify_all();
    }
    if (boost::this_thread::get_id() == thread_.get_id()) {
        thread_.detach();
    } else {
        const boost::this_thread::disable_interruption uninterrupted;
        thread_.join();
    }
}

}  // namespace latchkey

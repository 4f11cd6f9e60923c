#include "ensemble/virtual_loop.hpp"

#include "loop/background_thread.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <boost/thread/lock_guard.hpp>

namespace latchkey {
namespace {

// Far from zero, so that "a long time before now" is a valid time in a stepped run, too.
constexpr std::chrono::hours start_of_stepped_time{24 * 365};

}  // namespace

virtual_loop::virtual_loop(mode m, std::uint64_t seed)
    : mode_(m),
      time_(m == mode::stepped ? clock::duration(start_of_stepped_time).count() : 0),
      schedule_(seed),
      numbers_(~seed) {}

virtual_loop::~virtual_loop() = default;

std::shared_ptr<virtual_loop> virtual_loop::make(mode m, std::uint64_t seed) {
    std::shared_ptr<virtual_loop> made(new virtual_loop(m, seed));
    if (m == mode::stepped) {
        return made;
    }
    // The thread keeps the loop itself alive. The references that are handed out only decide when
    // it ends, so a task of the loop may drop the last one.
    made->thread_ = start_background_thread("latchkey-model", [made] { made->serve(); });
    return {made.get(), [made](virtual_loop* l) { l->stop(); }};
}

std::shared_ptr<virtual_loop::process> virtual_loop::make_process(
    std::shared_ptr<virtual_loop> owner) {
    std::uint32_t number = 0;
    owner->call([&] {
        number = static_cast<std::uint32_t>(owner->processes_.size());
        owner->processes_.emplace_back();
    });
    return std::make_shared<process>(std::move(owner), number);
}

virtual_loop::process::process(std::shared_ptr<virtual_loop> owner, std::uint32_t number) noexcept
    : owner_(std::move(owner)), number_(number) {}

// ---- clocks that run at another rate ----

namespace {

constexpr std::int64_t million = 1'000'000;

// Without overflow, and exact: rounded down, and rounded up.
std::int64_t down(std::int64_t d, std::int64_t by, std::int64_t of) noexcept {
    return d / of * by + d % of * by / of;
}

std::int64_t up(std::int64_t d, std::int64_t by, std::int64_t of) noexcept {
    return d / of * by + (d % of * by + of - 1) / of;
}

}  // namespace

loop::clock::time_point virtual_loop::process::now() const noexcept {
    const clock::time_point now = owner_->now();
    const clock_rate* const r = rate_.load(std::memory_order_acquire);
    return r == nullptr
               ? now
               : r->shown + clock::duration(down((now - r->since).count(), r->millionths, million));
}

loop::clock::time_point virtual_loop::process::due(clock::time_point at) const noexcept {
    const clock_rate* const r = rate_.load(std::memory_order_acquire);
    constexpr clock::duration far = clock::duration::max() / 4;
    if (r == nullptr || at > clock::time_point(far)) {
        return at;
    }
    const clock::duration left = at - r->shown;
    return r->since +
           (left.count() < 0 ? left : clock::duration(up(left.count(), million, r->millionths)));
}

loop::clock::duration virtual_loop::process::lasting(clock::duration d) const noexcept {
    const clock_rate* const r = rate_.load(std::memory_order_acquire);
    return r == nullptr ? d : clock::duration(up(d.count(), million, r->millionths));
}

void virtual_loop::process::set_clock_rate(double rate) {
    rates_.push_back({owner_->now(), now(), std::llround(rate * static_cast<double>(million))});
    rate_.store(&rates_.back(), std::memory_order_release);
    owner_->set_timers_again(*this);
}

void virtual_loop::set_timers_again(const process& of) {
    for (entry& e : timers_) {
        if (const slot* const s = find(e.id); s != nullptr && s->process == of.number()) {
            e.at = of.due(s->at);
        }
    }
    std::make_heap(timers_.begin(), timers_.end(), later);
}

loop::clock::time_point virtual_loop::now() const noexcept {
    const clock::duration t(time_.load(std::memory_order_relaxed));
    return stepped() ? clock::time_point(t) : clock::now() + t;
}

bool virtual_loop::on_loop() const noexcept {
    return runner_.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

std::uint64_t virtual_loop::random() {
    return numbers_();
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
        const boost::lock_guard<boost::mutex> lock(mutex_);
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

bool virtual_loop::later(const entry& a, const entry& b) noexcept {
    return a.at != b.at ? a.at > b.at : a.tie > b.tie;
}

loop::timer_id virtual_loop::start_timer_as(std::uint32_t number,
                                            clock::time_point at,
                                            clock::time_point due,
                                            task t) {
    if (abandoned_) {
        return ~timer_id{0};
    }
    std::uint32_t index = 0;
    if (free_slots_.empty()) {
        index = static_cast<std::uint32_t>(slots_.size());
        slots_.emplace_back();
    } else {
        index = free_slots_.back();
        free_slots_.pop_back();
    }
    slot& s = slots_[index];
    s.run = std::move(t);
    s.at = at;
    s.process = number;
    const timer_id id = (static_cast<timer_id>(s.generation) << 32U) | index;
    // Threaded, the older timer comes first: users expect that of a clock.
    const std::uint64_t tie = stepped() ? schedule_() : ++steps_;
    timers_.push_back({due, tie, id});
    std::push_heap(timers_.begin(), timers_.end(), later);
    return id;
}

virtual_loop::slot* virtual_loop::find(timer_id id) noexcept {
    const auto index = static_cast<std::uint32_t>(id);
    if (index >= slots_.size() || slots_[index].generation != id >> 32U || !slots_[index].run) {
        return nullptr;
    }
    return &slots_[index];
}

loop::task virtual_loop::take(timer_id id) noexcept {
    slot* const s = find(id);
    if (s == nullptr) {
        return {};
    }
    ++s->generation;
    task run = std::exchange(s->run, {});
    free_slots_.push_back(static_cast<std::uint32_t>(id));
    return run;
}

void virtual_loop::cancel_timer(timer_id id) noexcept {
    // Destroyed after the slot is free: the closure may own objects that start or cancel timers.
    const task forgotten = take(id);
}

void virtual_loop::pause(std::uint32_t number) {
    processes_[number].paused = true;
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
    const boost::lock_guard<boost::mutex> lock(mutex_);
    if (ready_.empty()) {
        ready_.swap(incoming_);
    } else {
        std::move(incoming_.begin(), incoming_.end(), std::back_inserter(ready_));
        incoming_.clear();
    }
    has_incoming_.store(false, std::memory_order_relaxed);
}

const virtual_loop::entry* virtual_loop::next_timer() {
    while (!timers_.empty() && find(timers_.front().id) == nullptr) {
        std::pop_heap(timers_.begin(), timers_.end(), later);
        timers_.pop_back();
    }
    return timers_.empty() ? nullptr : &timers_.front();
}

void virtual_loop::run(std::uint32_t number, task t) {
    mark(static_cast<std::uint64_t>(time_.load(std::memory_order_relaxed)) ^ number);
    ++steps_;
    const std::thread::id before = runner_.exchange(std::this_thread::get_id());
    t();
    t = nullptr;  // what it owned is destroyed while still on the loop
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
        p.run = take(p.timer);
    }
    if (p.run) {
        run(p.process, std::move(p.run));
    }
}

void virtual_loop::run_timer() {
    const timer_id id = timers_.front().id;
    const std::uint32_t number = find(id)->process;
    std::pop_heap(timers_.begin(), timers_.end(), later);
    timers_.pop_back();
    if (processes_[number].paused) {
        processes_[number].deferred.push_back({{}, number, id});
        return;
    }
    run(number, take(id));
}

}  // namespace latchkey

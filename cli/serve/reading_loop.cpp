#include "serve/reading_loop.hpp"

#include <latchkey/error.hpp>

#include "text/escape.hpp"

#include <algorithm>
#include <exception>
#include <stop_token>
#include <utility>

namespace latchkey::cli {

namespace {

using std::chrono::nanoseconds;

reading_progress first_progress(nanoseconds every) {
    reading_progress p;
    p.every = every;
    return p;
}

}  // namespace

nanoseconds next_reading_after(nanoseconds every, nanoseconds took, nanoseconds unasked_for) {
    const bool idle = unasked_for > std::max<nanoseconds>(10 * every, std::chrono::minutes(2));
    return std::max(
        {idle ? std::max<nanoseconds>(every, std::chrono::minutes(1)) : every, 2 * took});
}

reading_loop::reading_loop(lock_reader reader, nanoseconds every, listener on_reading)
    : reader_(std::move(reader)),
      every_(every),
      on_reading_(std::move(on_reading)),
      latest_(std::make_shared<const snapshot>(first_progress(every))),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

reading_loop::~reading_loop() = default;

std::shared_ptr<const snapshot> reading_loop::latest() const {
    const std::lock_guard lock(guard_);
    return latest_;
}

void reading_loop::asked() {
    const std::lock_guard lock(guard_);
    asked_ = clock::now();
    wake_.notify_all();
}

void reading_loop::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        began_ = clock::now();
        took_ = {};  // a failure is no reason to wait
        read(stop);
        pause(stop);
    }
}

void reading_loop::read(const std::stop_token& stop) {
    const auto before = latest();
    reading_progress p = before->progress();
    try {
        auto r = std::make_shared<const reading>(reader_.read(stop));
        if (r->total.end == lock_tree_summary::ending::stopped) {
            return;
        }
        if (r->is_complete()) {
            p.complete = r->began;
        }
        took_ = r->took;
        ++(r->is_complete() ? p.complete_readings : p.partial_readings);
        p.last = std::move(r);
        p.error.clear();
    } catch (const std::exception& e) {
        ++p.failed_readings;
        p.error = escaped_message(e.what());
    }
    if (stop.stop_requested()) {
        return;
    }
    const auto now = std::make_shared<const snapshot>(std::move(p));
    {
        const std::lock_guard lock(guard_);
        latest_ = now;
    }
    on_reading_(before, now);
}

void reading_loop::pause(const std::stop_token& stop) {
    std::unique_lock lock(guard_);
    const auto next = [&] {
        return began_ + next_reading_after(every_, took_, clock::now() - asked_);
    };
    while (!stop.stop_requested() && clock::now() < next()) {
        const auto seen = asked_;
        wake_.wait_until(lock, stop, next(), [&] { return asked_ != seen; });
    }
}

}  // namespace latchkey::cli

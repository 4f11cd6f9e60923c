#include "serve/reading_loop.hpp"

#include <latchkey/error.hpp>

#include "text/escape.hpp"

#include <algorithm>
#include <exception>
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

reading_loop::reading_loop(main_loop& loop,
                           lock_reader reader,
                           nanoseconds every,
                           listener on_reading)
    : reader_(std::move(reader)),
      every_(every),
      on_reading_(std::move(on_reading)),
      latest_(std::make_shared<const snapshot>(first_progress(every))),
      due_(loop),
      reading_(loop) {
    begin();
}

void reading_loop::asked() {
    asked_ = clock::now();
    read_when_due();
}

void reading_loop::begin() {
    began_ = clock::now();
    under_way_ = true;
    reading_.start([this, before = latest_](const std::stop_token& stop) -> main_loop::task {
        const shown now = read(*before, stop);
        return [this, now, show = on_reading_(before, now)] {
            latest_ = now;
            show();
            under_way_ = false;
            read_when_due();
        };
    });
}

reading_loop::shown reading_loop::read(const snapshot& before, const std::stop_token& stop) const {
    reading_progress p = before.progress();
    try {
        auto r = std::make_shared<const reading>(reader_.read(stop));
        if (r->is_complete()) {
            p.complete = r->began;
        }
        ++(r->is_complete() ? p.complete_readings : p.partial_readings);
        p.last = std::move(r);
        p.error.clear();
    } catch (const std::exception& e) {
        ++p.failed_readings;
        p.error = escaped_message(e.what());
    }
    return std::make_shared<const snapshot>(std::move(p));
}

void reading_loop::read_when_due() {
    if (under_way_) {
        return;
    }
    const bool failed = !latest_->progress().error.empty();  // which is no reason to wait
    const nanoseconds took = failed ? nanoseconds::zero() : latest_->last()->took;
    const auto now = clock::now();
    const auto next = began_ + next_reading_after(every_, took, now - asked_);
    if (now < next) {
        due_.start(next - now, [this] { read_when_due(); });
    } else {
        begin();
    }
}

}  // namespace latchkey::cli

#include "supervisor/kill_schedule.hpp"

#include <algorithm>

namespace latchkey::cli {

namespace {

/// time_point::min() means "at once". Subtracting from it would overflow.
kill_schedule::time_point before(kill_schedule::time_point t, std::chrono::nanoseconds d) {
    return t < kill_schedule::time_point::min() + d ? kill_schedule::time_point::min() : t - d;
}

}  // namespace

kill_schedule::kill_schedule(time_point deadline, std::chrono::nanoseconds grace) noexcept
    : deadline_(deadline), grace_(std::max<std::chrono::nanoseconds>(grace, safety)) {}

void kill_schedule::move_deadline(time_point deadline) noexcept {
    if (stage_ == stage::running) {
        deadline_ = deadline;
    }
}

void kill_schedule::end_now() noexcept {
    deadline_ = time_point::min();
}

kill_schedule::time_point kill_schedule::next() const noexcept {
    switch (stage_) {
        case stage::running:
            return before(deadline_, grace_);
        case stage::terminating:
            return before(deadline_, safety);
        default:
            return time_point::max();
    }
}

kill_schedule::stage kill_schedule::advance(time_point now) noexcept {
    if (stage_ != stage::killing && now >= before(deadline_, safety)) {
        stage_ = stage::killing;
    } else if (stage_ == stage::running && now >= before(deadline_, grace_)) {
        stage_ = stage::terminating;
    }
    return stage_;
}

}  // namespace latchkey::cli

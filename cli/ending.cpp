#include "ending.hpp"

#include <algorithm>

namespace latchkey::cli {

namespace {

/// time_point::min() is "at once"; subtracting from it would overflow.
ending::time_point before(ending::time_point t, std::chrono::nanoseconds d) {
    return t < ending::time_point::min() + d ? ending::time_point::min() : t - d;
}

}  // namespace

ending::ending(time_point deadline, std::chrono::nanoseconds grace) noexcept
    : deadline_(deadline), grace_(std::max<std::chrono::nanoseconds>(grace, safety)) {}

void ending::move_deadline(time_point deadline) noexcept {
    if (stage_ == stage::running) {
        deadline_ = deadline;
    }
}

void ending::end_now() noexcept {
    deadline_ = time_point::min();
}

ending::time_point ending::next() const noexcept {
    switch (stage_) {
        case stage::running:
            return before(deadline_, grace_);
        case stage::terminating:
            return before(deadline_, safety);
        default:
            return time_point::max();
    }
}

ending::stage ending::advance(time_point now) noexcept {
    if (stage_ != stage::killing && now >= before(deadline_, safety)) {
        stage_ = stage::killing;
    } else if (stage_ == stage::running && now >= before(deadline_, grace_)) {
        stage_ = stage::terminating;
    }
    return stage_;
}

}  // namespace latchkey::cli

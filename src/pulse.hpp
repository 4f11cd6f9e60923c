#pragma once

#include "loop.hpp"

#include <functional>
#include <utility>

namespace latchkey {

/// Notices when the loop stood still: the process was stopped, or its machine. Meanwhile no ping of
/// a session was sent either. On the loop only.
class pulse {
public:
    /// `stood_still` is called when the loop runs again, before it handles what the servers have
    /// answered since.
    pulse(loop& l, std::function<void()> stood_still)
        : loop_(l), stood_still_(std::move(stood_still)), next_(l) {}

    /// Beats every `period`; one that comes a period late or more is a standstill.
    void start(loop::clock::duration period) {
        due_ = loop_.now() + period;
        next_.start(due_, [this, period] {
            if (loop_.now() >= due_ + period) {
                stood_still_();
            }
            start(period);
        });
    }

    void stop() { next_.cancel(); }

private:
    loop& loop_;
    std::function<void()> stood_still_;
    timer next_;
    loop::clock::time_point due_{};
};

}  // namespace latchkey

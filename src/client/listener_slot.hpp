#pragma once

#include <atomic>
#include <mutex>

namespace latchkey::inline v0 {

/// Guards the calls of a user's listener, which one thread makes and any thread may end. The
/// listener may end them itself.
class listener_slot {
public:
    /// Runs `c`, which calls the listener, unless the calls have ended.
    template <class Call>
    void call(const Call& c) {
        const std::lock_guard lock(calling_);
        if (!over_) {
            c();
        }
    }

    /// No call follows; one that runs is not waited for.
    void silence() noexcept { over_ = true; }

    /// When it returns, no call runs and none follows, unless a call does this itself. Not in a
    /// forked child: a call that ran in the parent would never return there.
    void end() {
        silence();
        const std::lock_guard lock(calling_);
    }

private:
    std::recursive_mutex calling_;
    std::atomic<bool> over_{false};
};

}  // namespace latchkey::inline v0

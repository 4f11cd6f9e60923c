#pragma once

#include <latchkey/hold.hpp>
#include <latchkey/lock_mode.hpp>

#include "client/hold_state.hpp"
#include "loop/monitor.hpp"

#include <map>
#include <thread>
#include <utility>

#include <boost/thread/mutex.hpp>

namespace latchkey::inline v0 {

/// The holds that lock(), lock_shared() and the like keep inside a shared_mutex: one exclusive or
/// upgrade hold, or shared holds of several threads. Any thread.
class kept_holds {
public:
    void keep(hold h, lock_mode as) {
        const monitor_lock lock(guard_);
        if (as == lock_mode::shared) {
            together_.emplace(std::this_thread::get_id(), std::move(h));
        } else {
            alone_ = std::move(h);
            alone_by_ = std::this_thread::get_id();
        }
    }

    /// Takes out a shared hold: this thread's, if it has one, otherwise any, because guards may
    /// move between threads.
    [[nodiscard]] hold take_shared() {
        const monitor_lock lock(guard_);
        auto found = together_.find(std::this_thread::get_id());
        if (found == together_.end()) {
            found = together_.begin();
        }
        return found == together_.end() ? hold() : std::move(together_.extract(found).mapped());
    }

    [[nodiscard]] hold take_alone() {
        const monitor_lock lock(guard_);
        alone_by_ = {};
        return std::move(alone_);
    }

    /// The exclusive or upgrade hold; null if there is none.
    [[nodiscard]] hold* alone() {
        const monitor_lock lock(guard_);
        return is_empty(alone_) ? nullptr : &alone_;
    }

    /// This thread's shared hold; null if it has none.
    [[nodiscard]] hold* shared() {
        const monitor_lock lock(guard_);
        const auto found = together_.find(std::this_thread::get_id());
        return found == together_.end() ? nullptr : &found->second;
    }

    /// Whether this thread has the exclusive or upgrade hold, so that it would wait for itself in
    /// any mode.
    [[nodiscard]] bool is_alone_by_this_thread() {
        const monitor_lock lock(guard_);
        return !is_empty(alone_) && alone_by_ == std::this_thread::get_id();
    }

private:
    boost::mutex guard_;
    hold alone_ LATCHKEY_GUARDED_BY(guard_);  ///< exclusive or upgrade
    std::thread::id alone_by_ LATCHKEY_GUARDED_BY(guard_);
    std::multimap<std::thread::id, hold> together_ LATCHKEY_GUARDED_BY(guard_);
};

}  // namespace latchkey::inline v0

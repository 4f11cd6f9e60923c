#pragma once

#include <latchkey/shared_mutex.hpp>

#include "lock/mode_change.hpp"
#include "loop/monitor.hpp"
#include "queue/acquire_calls.hpp"

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <thread>
#include <utility>

namespace latchkey {

class shared_mutex::impl : public std::enable_shared_from_this<impl> {
public:
    impl(const std::shared_ptr<client_core>& core, queue_recipe p)
        : acquire(core, local_queue::admits::everybody) {
        for (const auto m : {lock_mode::shared, lock_mode::upgrade, lock_mode::exclusive}) {
            p.mode = m;
            as_.at(static_cast<std::size_t>(m)) = std::make_shared<const queue_recipe>(p);
        }
    }

    [[nodiscard]] const std::shared_ptr<const queue_recipe>& as(lock_mode m) const {
        return as_.at(static_cast<std::size_t>(m));
    }

    [[nodiscard]] bool forked() const { return acquire.core()->forked(); }

    const acquire_calls acquire;

    // lock() and its like keep their holds here.
    boost::mutex guard;
    hold alone LATCHKEY_GUARDED_BY(guard);  ///< exclusive or upgrade
    std::thread::id alone_by LATCHKEY_GUARDED_BY(guard);
    std::multimap<std::thread::id, hold> together LATCHKEY_GUARDED_BY(guard);

    /// Takes out a shared hold, this thread's if it has one: guards may move between threads.
    hold take_shared() {
        acquire.core()->check_not_forked();
        const monitor_lock lock(guard);
        auto found = together.find(std::this_thread::get_id());
        if (found == together.end()) {
            found = together.begin();
        }
        return found == together.end() ? hold() : std::move(together.extract(found).mapped());
    }

    void keep(hold h, lock_mode as) {
        const monitor_lock lock(guard);
        if (as == lock_mode::shared) {
            together.emplace(std::this_thread::get_id(), std::move(h));
        } else {
            alone = std::move(h);
            alone_by = std::this_thread::get_id();
        }
    }

    hold take_alone() {
        acquire.core()->check_not_forked();
        const monitor_lock lock(guard);
        alone_by = {};
        return std::move(alone);
    }

    /// Whatever this thread asks for besides, it would wait for itself.
    [[nodiscard]] bool is_alone_by_this_thread() {
        const monitor_lock lock(guard);
        return alone && alone_by == std::this_thread::get_id();
    }

    void convert(const std::shared_ptr<hold>& h,
                 lock_mode to,
                 std::chrono::nanoseconds limit,
                 const acquire_options& options,
                 mode_change::handler done) const;
    bool upgrade_kept(shared_mutex& m, hold h, lock_mode to, std::chrono::nanoseconds limit);
    void downgrade_kept(shared_mutex& m, lock_mode to);

private:
    std::array<std::shared_ptr<const queue_recipe>, 3> as_;
};

}  // namespace latchkey

#include "loop/strand.hpp"

#include "loop/fork_guard.hpp"
#include "loop/monitor.hpp"
#include "loop/never_destroyed.hpp"

#include <cstdint>
#include <deque>
#include <utility>

namespace latchkey::inline v0 {

/// The part that functions in the executor refer to.
class strand::queue : public std::enable_shared_from_this<queue> {
public:
    explicit queue(executor to) : to_(std::move(to)) {}

    void run(task t) {
        if (inherited()) {
            leave_undestroyed(std::move(t));
            return;
        }
        {
            const monitor_lock lock(guard_);
            tasks_.push_back(std::move(t));
            if (std::exchange(handed_over_, true)) {
                return;
            }
        }
        hand_over();
    }

    void run_one() {
        task t;
        {
            const monitor_lock lock(guard_);
            t = std::move(tasks_.front());
            tasks_.pop_front();
        }
        t();
        t = nullptr;  // destroys its captures before the next task, without the lock
        {
            const monitor_lock lock(guard_);
            handed_over_ = !tasks_.empty();
            if (!handed_over_) {
                return;
            }
        }
        hand_over();
    }

    void drop_all() noexcept {
        std::deque<task> dropped;
        const monitor_lock lock(guard_);
        dropped.swap(tasks_);
        handed_over_ = false;
    }

    /// In a forked child: another thread of the parent may have held `guard_`.
    [[nodiscard]] bool inherited() const noexcept { return born_ != fork_generation(); }

private:
    void hand_over();

    const executor to_;
    const std::uint64_t born_ = fork_generation();
    thread_mutex guard_;
    std::deque<task> tasks_ LATCHKEY_GUARDED_BY(guard_);
    bool handed_over_ LATCHKEY_GUARDED_BY(guard_) = false;  ///< a turn waits or runs
};

/// The function that the executor has: runs one task, or drops all if it is destroyed uncalled.
class strand::turn {
public:
    explicit turn(std::shared_ptr<queue> q) noexcept : queue_(std::move(q)) {}

    turn(turn&&) noexcept = default;
    turn& operator=(turn&&) = delete;
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;

    ~turn() {
        if (queue_ == nullptr) {
            return;
        }
        if (queue_->inherited()) {
            leave_undestroyed(std::move(queue_));
        } else {
            queue_->drop_all();
        }
    }

    void operator()() {
        if (queue_ != nullptr && !queue_->inherited()) {
            const auto q = std::exchange(queue_, nullptr);
            q->run_one();
        }
    }

private:
    std::shared_ptr<queue> queue_;
};

void strand::queue::hand_over() {
    try {
        to_(turn(shared_from_this()));
    } catch (...) {  // the turn was destroyed, and there is no other place to report this
    }
}

strand::strand(executor to) : queue_(std::make_shared<queue>(std::move(to))) {}

void strand::run(task t) {
    queue_->run(std::move(t));
}

}  // namespace latchkey::inline v0

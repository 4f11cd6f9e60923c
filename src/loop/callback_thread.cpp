#include "loop/callback_thread.hpp"

#include "loop/background_thread.hpp"
#include "loop/fork_guard.hpp"
#include "loop/monitor.hpp"
#include "loop/never_destroyed.hpp"

#include <deque>
#include <utility>

namespace latchkey::inline v0 {
namespace {

thread_local bool runs_a_loop = false;

}  // namespace

/// The part that outlives the callback_thread if one of its own tasks destroys it.
class callback_thread::worker {
public:
    void start(const std::shared_ptr<worker>& self, const char* name) {
        thread_ = background_thread(name, [self] { self->work(); });
    }

    void run(task t) {
        {
            const monitor_lock lock(mutex_);
            tasks_.push_back(std::move(t));
        }
        changed_.notify_one();
    }

    void finish() {
        const bool waits = !runs_a_loop && !thread_.runs_caller();
        {
            const monitor_lock lock(mutex_);
            detaches_ = !waits;
            finishing_ = true;
        }
        changed_.notify_one();
        if (waits) {
            thread_.join();
        }
    }

private:
    void work() noexcept {
        while (task t = next()) {
            t();
        }
        // Whoever let it go may be the loop. So what is left of the thread ends here.
        if (detaches()) {
            background_thread(std::move(thread_)).detach();
        }
    }

    /// The next task; none when it has to end.
    task next() {
        monitor_lock lock(mutex_);
        while (!finishing_ && tasks_.empty()) {
            lock.wait(changed_);
        }
        task t;
        if (!tasks_.empty()) {
            t = std::move(tasks_.front());
            tasks_.pop_front();
        }
        return t;
    }

    [[nodiscard]] bool detaches() {
        const monitor_lock lock(mutex_);
        return detaches_;
    }

    thread_mutex mutex_;
    thread_condition changed_;
    std::deque<task> tasks_ LATCHKEY_GUARDED_BY(mutex_);
    bool finishing_ LATCHKEY_GUARDED_BY(mutex_) = false;
    bool detaches_ LATCHKEY_GUARDED_BY(mutex_) = false;  ///< nobody waits for its end
    background_thread thread_;
};

callback_thread::callback_thread(const char* name)
    : worker_(std::make_shared<worker>()), born_(fork_generation()) {
    worker_->start(worker_, name);
}

callback_thread::~callback_thread() {
    if (born_ == fork_generation()) {
        worker_->finish();
        return;
    }
    // A thread that exists only in the parent may hold its mutex forever.
    leave_undestroyed(std::move(worker_));
}

void callback_thread::become_loop() noexcept {
    runs_a_loop = true;
}

void callback_thread::run(task t) {
    if (born_ == fork_generation()) {
        worker_->run(std::move(t));
    }
}

}  // namespace latchkey::inline v0

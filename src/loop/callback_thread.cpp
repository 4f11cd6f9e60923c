#include "loop/callback_thread.hpp"

#include "loop/background_thread.hpp"
#include "loop/fork_guard.hpp"
#include "loop/never_destroyed.hpp"

#include <deque>
#include <utility>

#include <boost/thread/condition_variable.hpp>
#include <boost/thread/lock_types.hpp>
#include <boost/thread/mutex.hpp>

namespace latchkey::inline v0 {
namespace {

thread_local bool runs_a_loop = false;

}  // namespace

/// The part that outlives the callback_thread if one of its own tasks destroys it.
class callback_thread::worker {
public:
    void start(const std::shared_ptr<worker>& self, const char* name) {
        thread_ = start_background_thread(name, [self] { self->work(); });
    }

    void run(task t) {
        boost::unique_lock<boost::mutex> lock(mutex_);
        tasks_.push_back(std::move(t));
        lock.unlock();
        changed_.notify_one();
    }

    void finish() {
        boost::unique_lock<boost::mutex> lock(mutex_);
        detaches_ = runs_a_loop || thread_.get_id() == boost::this_thread::get_id();
        const bool waits = !detaches_;
        finishing_ = true;
        lock.unlock();
        changed_.notify_one();
        if (waits) {
            // The tasks are the user's: an interruption of the waiting thread must not leave them.
            const boost::this_thread::disable_interruption uninterrupted;
            thread_.join();
        }
    }

private:
    void work() noexcept {
        boost::unique_lock<boost::mutex> lock(mutex_);
        for (;;) {
            changed_.wait(lock, [this] { return finishing_ || !tasks_.empty(); });
            if (tasks_.empty()) {
                // Whoever let it go may be the loop. So what is left of the thread ends here.
                boost::thread own = detaches_ ? std::move(thread_) : boost::thread();
                lock.unlock();
                if (own.joinable()) {
                    own.detach();
                }
                return;
            }
            task t = std::move(tasks_.front());
            tasks_.pop_front();
            lock.unlock();
            t();
            t = nullptr;  // destroys its captures before the next task, without the lock
            lock.lock();
        }
    }

    boost::mutex mutex_;
    boost::condition_variable changed_;
    std::deque<task> tasks_;
    bool finishing_ = false;
    bool detaches_ = false;  ///< nobody waits for its end
    boost::thread thread_;
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

#include "loop/monitor.hpp"

#include <boost/chrono/system_clocks.hpp>
#include <boost/thread/condition_variable.hpp>

namespace latchkey::inline v0 {

struct thread_condition::impl {
    boost::condition_variable_any changed;
};

thread_condition::thread_condition() : impl_(std::make_unique<impl>()) {}

thread_condition::~thread_condition() = default;

void thread_condition::notify_one() noexcept {
    impl_->changed.notify_one();
}

void thread_condition::notify_all() noexcept {
    impl_->changed.notify_all();
}

void thread_condition::wait(std::unique_lock<std::mutex>& lock) {
    impl_->changed.wait(lock);
}

bool thread_condition::wait_until(std::unique_lock<std::mutex>& lock,
                                  std::chrono::steady_clock::time_point deadline) {
    const boost::chrono::steady_clock::time_point at(
        boost::chrono::nanoseconds(deadline.time_since_epoch().count()));
    return impl_->changed.wait_until(lock, at) == boost::cv_status::no_timeout;
}

}  // namespace latchkey::inline v0

#include <latchkey/mutex.hpp>

#include "client/fork_safe.hpp"
#include "lock/exclusive_lock.hpp"
#include "queue/participants.hpp"

#include <utility>

namespace latchkey::inline v0 {

class mutex::impl : public exclusive_lock {
    using exclusive_lock::exclusive_lock;
};

mutex::mutex(const client& c, std::string path, lock_options options) {
    const auto core = client_core::of(c);
    impl_ = fork_safe<impl>(core, mutex_queue_of(*core, std::move(path), std::move(options)));
}

mutex::~mutex() = default;

hold mutex::acquire_within(std::chrono::nanoseconds timeout,
                           acquire_options options,
                           std::error_code& ec) {
    return report(ec, [&] {
        return impl_->acquire.acquire_within(impl_->recipe, timeout, std::move(options));
    });
}

awaitable<hold> mutex::await_acquire(std::chrono::nanoseconds timeout, acquire_options options) {
    return impl_->acquire.await_acquire(impl_->recipe, timeout, std::move(options));
}

void mutex::start_acquire(std::chrono::nanoseconds timeout,
                          acquire_options options,
                          acquire_handler handler) {
    impl_->acquire.start_acquire(impl_->recipe, timeout, std::move(options), std::move(handler));
}

// ---- Lockable ----

bool mutex::lock_within(std::chrono::nanoseconds limit) {
    return impl_->lock_within(limit);
}

void mutex::unlock() noexcept {
    impl_->unlock();
}

hold& mutex::held() {
    return impl_->held();
}

// ---- participants ----

std::vector<participant> mutex::participants(std::error_code& ec) {
    return report(ec, [&] { return list_participants(impl_->acquire.core(), path(), lock_names); });
}

std::optional<participant> mutex::holder(std::error_code& ec) {
    return report(ec, [&] { return first_participant(impl_->acquire.core(), path(), lock_names); });
}

bool mutex::revoke(const participant& whom, std::error_code& ec) {
    return report(ec, [&] { return revoke_in(impl_->acquire.core(), path(), lock_names, whom); });
}

const std::string& mutex::path() const noexcept {
    return impl_->recipe->directory;
}

}  // namespace latchkey::inline v0

#include <latchkey/mutex.hpp>

#include "client/fork_safe.hpp"
#include "lock/exclusive_lock.hpp"

#include <utility>

namespace latchkey {

class mutex::impl : public exclusive_lock {
    using exclusive_lock::exclusive_lock;
};

mutex::mutex(client& c, std::string path, mutex_options options) {
    const auto core = client_core::of(c);
    impl_ = fork_safe<impl>(
        core, queue_recipe_of(*core, std::move(path), lock_names, std::move(options)));
}

mutex::~mutex() = default;

hold mutex::acquire(acquire_options options) {
    return acquire_within(local_queue::for_ever, std::move(options));
}

hold mutex::try_acquire() {
    return acquire_within(std::chrono::nanoseconds::zero(), {});
}

hold mutex::acquire_within(std::chrono::nanoseconds limit, acquire_options options) {
    return impl_->acquire.acquire(impl_->as, limit, std::move(options));
}

hold mutex::acquire(acquire_options options, std::error_code& ec) {
    return without_exception(ec, [&] { return acquire(std::move(options)); });
}

hold mutex::try_acquire(std::error_code& ec) {
    return without_exception(ec, [&] { return try_acquire(); });
}

hold mutex::acquire_within(std::chrono::nanoseconds limit,
                           acquire_options options,
                           std::error_code& ec) {
    return without_exception(ec, [&] { return acquire_within(limit, std::move(options)); });
}

void mutex::async_acquire(acquire_options options, acquire_handler handler) {
    async_acquire(local_queue::for_ever, std::move(options), std::move(handler));
}

void mutex::async_acquire(std::chrono::nanoseconds limit,
                          acquire_options options,
                          acquire_handler handler) {
    impl_->acquire.async_acquire(impl_->as, limit, std::move(options), std::move(handler));
}

// ---- Lockable ----

void mutex::lock() {
    static_cast<void>(lock_within(local_queue::for_ever));
}

bool mutex::try_lock() {
    return lock_within(std::chrono::nanoseconds::zero());
}

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

std::vector<participant> mutex::participants() {
    return impl_->acquire.participants(*impl_->as);
}

std::optional<participant> mutex::holder() {
    return impl_->acquire.first(*impl_->as);
}

bool mutex::revoke(const participant& whom) {
    return impl_->acquire.revoke(*impl_->as, whom);
}

const std::string& mutex::path() const noexcept {
    return impl_->as->directory;
}

}  // namespace latchkey

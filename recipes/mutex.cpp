#include <latchkey/mutex.hpp>

#include "acquirer.hpp"
#include "path.hpp"

#include <thread>
#include <utility>

namespace latchkey {
namespace {

/// Curator's InterProcessMutex; go-zookeeper's Lock orders by the same.
constexpr queue_markers lock_names{.exclusive = "lock-"};

}  // namespace

class mutex::impl {
public:
    impl(const std::shared_ptr<client_core>& core, participation p)
        : acquire(core, local_queue::admits::one_at_a_time),
          as(std::make_shared<const participation>(std::move(p))) {}

    const acquirer acquire;
    const std::shared_ptr<const participation> as;

    // lock() keeps its hold here.
    boost::mutex guard;
    hold held LATCHKEY_GUARDED_BY(guard);
    std::thread::id locked_by LATCHKEY_GUARDED_BY(guard);
};

mutex::mutex(client& c, std::string path, mutex_options options) {
    const auto core = client_core::of(c);
    impl_ = std::make_shared<impl>(
        core, participation_of(*core, std::move(path), lock_names, std::move(options)));
}

mutex::~mutex() {
    if (impl_->acquire.core()->forked()) {
        leak(impl_);
    }
}

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
    {
        const monitor_lock lock(impl_->guard);
        if (impl_->held && impl_->locked_by == std::this_thread::get_id()) {
            if (limit == local_queue::for_ever) {
                throw error(errc::would_deadlock,
                            "this thread holds \"" + escaped(path()) +
                                "\" already: a mutex is not recursive");
            }
            return false;
        }
    }
    hold granted = acquire_within(limit, {});
    if (!granted) {
        return false;
    }
    const monitor_lock lock(impl_->guard);
    impl_->held = std::move(granted);
    impl_->locked_by = std::this_thread::get_id();
    return true;
}

void mutex::unlock() noexcept {
    if (impl_->acquire.core()->forked()) {
        return;
    }
    hold released;
    const monitor_lock lock(impl_->guard);
    impl_->locked_by = {};
    released = std::move(impl_->held);
}

hold& mutex::held() {
    const monitor_lock lock(impl_->guard);
    if (!impl_->held) {
        throw error(errc::hold_lost,
                    "\"" + escaped(path()) + "\" is not locked through this object");
    }
    return impl_->held;
}

// ---- who is there ----

std::vector<participant> mutex::participants() {
    return impl_->acquire.participants(*impl_->as);
}

std::optional<participant> mutex::holder() {
    return impl_->acquire.first(*impl_->as);
}

const std::string& mutex::path() const noexcept {
    return impl_->as->directory;
}

}  // namespace latchkey

#include <latchkey/semaphore.hpp>

#include "client/blocking_read.hpp"
#include "client/fork_safe.hpp"
#include "semaphore/permit_demand.hpp"

#include <utility>

namespace latchkey::inline v0 {

class semaphore::impl : public permit_calls {
    using permit_calls::permit_calls;
};

semaphore::semaphore(const client& c,
                     std::string path,
                     std::uint32_t permits,
                     lock_options options) {
    check_permits(permits, "a semaphore");
    impl_ = fork_safe<impl>(
        client_core::of(c), permit_demand(path, permits, false), std::move(options));
}

semaphore::semaphore(const client& c, std::string path, lock_options options) {
    impl_ = fork_safe<impl>(
        client_core::of(c), permit_demand(path, std::nullopt, false), std::move(options));
}

semaphore::~semaphore() = default;

hold semaphore::acquire_within(std::uint32_t permits,
                               std::chrono::nanoseconds timeout,
                               acquire_options options,
                               std::error_code& ec) {
    return report(ec, [&] {
        return impl_->acquire.acquire_within(impl_->recipe(permits), timeout, std::move(options));
    });
}

awaitable<hold> semaphore::await_acquire(std::uint32_t permits,
                                         std::chrono::nanoseconds timeout,
                                         acquire_options options) {
    return impl_->acquire.await_acquire(impl_->recipe(permits), timeout, std::move(options));
}

void semaphore::start_acquire(std::uint32_t permits,
                              std::chrono::nanoseconds timeout,
                              acquire_options options,
                              acquire_handler handler) {
    impl_->acquire.start_acquire(
        impl_->recipe(permits), timeout, std::move(options), std::move(handler));
}

// ---- the limit ----

void semaphore::resize(std::uint32_t permits, std::error_code& ec) {
    return report(ec, [&] {
        check_permits(permits, "a semaphore");
        const reply now = impl_->look({}).front();
        static_cast<void>(impl_->limit_in(now));
        const reply r = blocking_read(
            impl_->acquire.core(), request::set(path(), std::to_string(permits), now.stat.version));
        // A write that was sent again after a lost answer may find that the first one was applied.
        if (r.code != result_code::bad_version || capacity() != permits) {
            failure_of(r.code, path(), request::kind::set).raise_unless(r.ok());
        }
    });
}

std::uint32_t semaphore::capacity(std::error_code& ec) {
    return report(ec, [&] { return impl_->limit_in(impl_->look({}).front()); });
}

std::uint32_t semaphore::available(std::error_code& ec) {
    return report(ec, [&] { return impl_->available(); });
}

std::vector<participant> semaphore::participants(std::error_code& ec) {
    return report(ec, [&] { return impl_->participants(); });
}

bool semaphore::revoke(const participant& whom, std::error_code& ec) {
    return report(ec, [&] { return impl_->revoke(whom); });
}

const std::string& semaphore::path() const noexcept {
    return impl_->demand.semaphore;
}

}  // namespace latchkey::inline v0

#include <latchkey/curator_semaphore.hpp>

#include "client/fork_safe.hpp"
#include "semaphore/permit_demand.hpp"

#include <utility>

namespace latchkey::inline v0 {

class curator_semaphore::impl : public permit_calls {
    using permit_calls::permit_calls;
};

curator_semaphore::curator_semaphore(const client& c,
                                     std::string path,
                                     std::uint32_t permits,
                                     lock_options options) {
    if (permits == 0) {
        throw error(errc::invalid_argument,
                    "a semaphore of 0 permits: no acquire could ever be granted; give at least 1");
    }
    impl_ =
        fork_safe<impl>(client_core::of(c), permit_demand(path, permits, true), std::move(options));
}

curator_semaphore::~curator_semaphore() = default;

hold curator_semaphore::acquire_within(std::uint32_t permits,
                                       std::chrono::nanoseconds timeout,
                                       acquire_options options,
                                       std::error_code& ec) {
    return report(ec, [&] {
        return impl_->acquire.acquire_within(impl_->recipe(permits), timeout, std::move(options));
    });
}

awaitable<hold> curator_semaphore::await_acquire(std::uint32_t permits,
                                                 std::chrono::nanoseconds timeout,
                                                 acquire_options options) {
    return impl_->acquire.await_acquire(impl_->recipe(permits), timeout, std::move(options));
}

void curator_semaphore::start_acquire(std::uint32_t permits,
                                      std::chrono::nanoseconds timeout,
                                      acquire_options options,
                                      acquire_handler handler) {
    impl_->acquire.start_acquire(
        impl_->recipe(permits), timeout, std::move(options), std::move(handler));
}

// ---- participants ----

std::uint32_t curator_semaphore::available(std::error_code& ec) {
    return report(ec, [&] { return impl_->available(); });
}

std::vector<participant> curator_semaphore::participants(std::error_code& ec) {
    return report(ec, [&] { return impl_->participants(); });
}

bool curator_semaphore::revoke(const participant& whom, std::error_code& ec) {
    return report(ec, [&] { return impl_->revoke(whom); });
}

const std::string& curator_semaphore::path() const noexcept {
    return impl_->demand.semaphore;
}

}  // namespace latchkey::inline v0

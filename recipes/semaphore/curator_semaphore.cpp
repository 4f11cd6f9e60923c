#include <latchkey/curator_semaphore.hpp>

#include "client/blocking_read.hpp"
#include "client/fork_safe.hpp"
#include "queue/znode_names.hpp"
#include "semaphore/permit_demand.hpp"
#include "text/path.hpp"

#include <utility>

namespace latchkey::inline v0 {
namespace {

/// As many znodes, with their data, as one transaction has room for.
constexpr std::uint32_t most_at_once = 100;

permit_demand lease_demand_of(const std::string& path, std::uint32_t limit) {
    if (limit == 0) {
        throw error(errc::invalid_argument,
                    "a semaphore of 0 permits: no acquire could ever be granted; give at least 1");
    }
    permit_demand demand;
    demand.semaphore = path;
    demand.directory = path + "/leases";
    demand.limit = limit;
    demand.limit_was_right->store(true);
    demand.leases = true;
    return demand;
}

}  // namespace

class curator_semaphore::impl : public permit_calls {
public:
    impl(const std::shared_ptr<client_core>& core, permit_demand d, lock_options options)
        : permit_calls(core, std::move(d), "/locks", curator_semaphore_names, std::move(options)) {}

    [[nodiscard]] std::shared_ptr<const queue_recipe> recipe(std::uint32_t permits) const {
        if (permits == 0 || permits > most_at_once) {
            throw error(errc::invalid_argument,
                        "an acquire of " + std::to_string(permits) + " permits: give 1 to " +
                            std::to_string(most_at_once));
        }
        if (permits > *demand.limit) {
            throw error(errc::invalid_argument,
                        std::to_string(permits) + " permits of \"" + escaped(demand.semaphore) +
                            "\" can never be granted: its limit is " +
                            std::to_string(*demand.limit));
        }
        return with(permits);
    }
};

curator_semaphore::curator_semaphore(const client& c,
                                     std::string path,
                                     std::uint32_t permits,
                                     lock_options options) {
    impl_ = fork_safe<impl>(client_core::of(c), lease_demand_of(path, permits), std::move(options));
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
    return report(ec, [&]() -> std::uint32_t {
        const permit_demand& demand = impl_->demand;
        return demand.free_of(*demand.limit,
                              read_children(impl_->acquire.core(), demand.directory));
    });
}

std::vector<participant> curator_semaphore::participants(std::error_code& ec) {
    return report(ec, [&]() -> std::vector<participant> {
        const auto lists = impl_->read({request::children(impl_->demand.directory),
                                        request::children(impl_->queue.directory)});
        return impl_->participants(lists[0].names, lists[1].names);
    });
}

bool curator_semaphore::revoke(const participant& whom, std::error_code& ec) {
    return report(ec, [&] { return impl_->revoke(whom); });
}

const std::string& curator_semaphore::path() const noexcept {
    return impl_->demand.semaphore;
}

}  // namespace latchkey::inline v0

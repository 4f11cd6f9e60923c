#include <latchkey/curator_semaphore.hpp>

#include "client/blocking_read.hpp"
#include "client/fork_safe.hpp"
#include "queue/acquire_calls.hpp"
#include "queue/znode_names.hpp"
#include "semaphore/permit_terms.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace latchkey::inline v0 {
namespace {

/// As many znodes, with their data, as one transaction has room for.
constexpr std::uint32_t most_at_once = 100;

permit_terms lease_terms_of(const std::string& path, std::uint32_t limit) {
    if (limit == 0) {
        throw error(errc::invalid_argument,
                    "a semaphore of 0 permits: no acquire could ever be granted; give at least 1");
    }
    permit_terms terms;
    terms.semaphore = path;
    terms.directory = path + "/leases";
    terms.limit = limit;
    terms.limit_was_right->store(true);
    terms.leases = true;
    return terms;
}

}  // namespace

class curator_semaphore::impl : public permit_calls {
public:
    impl(const std::shared_ptr<client_core>& core, permit_terms t, lock_options options)
        : permit_calls(core, std::move(t), "/locks", curator_semaphore_names, std::move(options)) {}

    [[nodiscard]] std::shared_ptr<const queue_recipe> recipe(std::uint32_t permits) const {
        if (permits == 0 || permits > most_at_once) {
            throw error(errc::invalid_argument,
                        "an acquire of " + std::to_string(permits) + " permits: give 1 to " +
                            std::to_string(most_at_once));
        }
        if (permits > *terms.limit) {
            throw error(errc::invalid_argument,
                        std::to_string(permits) + " permits of \"" + escaped(terms.semaphore) +
                            "\" can never be granted: its limit is " +
                            std::to_string(*terms.limit));
        }
        return with(permits);
    }

    /// The children of a directory; none if it does not exist.
    [[nodiscard]] std::vector<std::string> names_in(const reply& r,
                                                    const std::string& directory) const {
        failure_of(r.code, directory, request::kind::children)
            .raise_unless(r.tells_whether_there());
        return r.names;
    }
};

curator_semaphore::curator_semaphore(const client& c,
                                     std::string path,
                                     std::uint32_t permits,
                                     lock_options options) {
    impl_ = fork_safe<impl>(client_core::of(c), lease_terms_of(path, permits), std::move(options));
}

curator_semaphore::~curator_semaphore() = default;

hold curator_semaphore::acquire_within(std::uint32_t permits,
                                       std::chrono::nanoseconds timeout,
                                       acquire_options options,
                                       std::error_code& ec) {
    return report(ec, [&] {
        return impl_->acquire.acquire(impl_->recipe(permits), timeout, std::move(options));
    });
}

awaitable<hold> curator_semaphore::await_acquire(std::uint32_t permits,
                                                 std::chrono::nanoseconds timeout,
                                                 acquire_options options) {
    return impl_->acquire.acquire_async(impl_->recipe(permits), timeout, std::move(options));
}

void curator_semaphore::start_acquire(std::uint32_t permits,
                                      std::chrono::nanoseconds timeout,
                                      acquire_options options,
                                      acquire_handler handler) {
    impl_->acquire.async_acquire(
        impl_->recipe(permits), timeout, std::move(options), std::move(handler));
}

// ---- participants ----

std::uint32_t curator_semaphore::available(std::error_code& ec) {
    return report(ec, [&]() -> std::uint32_t {
        const permit_terms& terms = impl_->terms;
        const std::size_t taken = read_children(*impl_->acquire.core(), terms.directory).size();
        return taken < *terms.limit ? static_cast<std::uint32_t>(*terms.limit - taken) : 0;
    });
}

std::vector<participant> curator_semaphore::participants(std::error_code& ec) {
    return report(ec, [&]() -> std::vector<participant> {
        const queue_recipe& recipe = impl_->queue;
        const std::string& leases = impl_->terms.directory;
        const std::vector<reply> lists =
            blocking_read(*impl_->acquire.core(),
                          {request::children(leases), request::children(recipe.directory)});
        std::vector<participant> found =
            impl_->acquire.examine(recipe, paths_in(leases, impl_->names_in(lists[0], leases)));
        for (participant& p : found) {
            p.sequence = 0;
            p.permits = 1;
        }
        const std::vector<std::string> queue =
            in_order(impl_->names_in(lists[1], recipe.directory), curator_semaphore_names);
        std::vector<participant> waiting =
            impl_->acquire.examine(recipe, paths_in(recipe.directory, queue));
        std::move(waiting.begin(), waiting.end(), std::back_inserter(found));
        return found;
    });
}

bool curator_semaphore::revoke(const participant& whom, std::error_code& ec) {
    return report(ec, [&]() -> bool {
        // Curator counts every child of `leases`, whatever its name is.
        return whom.permits > 0 ? impl_->acquire.revoke_in(impl_->terms.directory, whom)
                                : impl_->acquire.revoke(impl_->queue, whom);
    });
}

const std::string& curator_semaphore::path() const noexcept {
    return impl_->terms.semaphore;
}

}  // namespace latchkey::inline v0

#include <latchkey/semaphore.hpp>

#include "client/blocking_read.hpp"
#include "client/fork_safe.hpp"
#include "queue/znode_names.hpp"
#include "semaphore/permit_demand.hpp"
#include "semaphore/permits.hpp"
#include "text/path.hpp"

#include <utility>

namespace latchkey::inline v0 {
namespace {

void check_count(std::uint32_t permits, const char* what) {
    if (permits == 0 || permits > most_permits) {
        throw error(errc::invalid_argument,
                    std::string(what) + " of " + std::to_string(permits) + " permits: give 1 to " +
                        std::to_string(most_permits));
    }
}

permit_demand permit_demand_of(const std::string& path, std::optional<std::uint32_t> limit) {
    permit_demand demand;
    demand.semaphore = path;
    demand.directory = path + "/permits";
    demand.limit = limit;
    return demand;
}

}  // namespace

class semaphore::impl : public permit_calls {
public:
    impl(const std::shared_ptr<client_core>& core, permit_demand d, lock_options options)
        : permit_calls(core, std::move(d), "/queue", semaphore_names, std::move(options)) {}

    [[nodiscard]] std::shared_ptr<const queue_recipe> recipe(std::uint32_t permits) const {
        check_count(permits, "an acquire");
        return with(permits);
    }

    /// The answers to a get of the semaphore and to the other requests.
    [[nodiscard]] std::vector<reply> look(std::vector<request> also) const {
        also.insert(also.begin(), request::get(demand.semaphore));
        std::vector<reply> answers = read(also);
        failure_of(answers.front().code, demand.semaphore, request::kind::get)
            .raise_unless(answers.front().ok());
        return answers;
    }

    [[nodiscard]] std::uint32_t limit_in(const reply& r) const {
        const auto limit = read_limit(r.data);
        if (!limit) {
            throw error(
                errc::not_a_semaphore,
                '"' + escaped(demand.semaphore) +
                    "\" is not a semaphore: its data is not a number of permits; use another path");
        }
        return *limit;
    }
};

semaphore::semaphore(const client& c,
                     std::string path,
                     std::uint32_t permits,
                     lock_options options) {
    check_count(permits, "a semaphore");
    impl_ =
        fork_safe<impl>(client_core::of(c), permit_demand_of(path, permits), std::move(options));
}

semaphore::semaphore(const client& c, std::string path, lock_options options) {
    impl_ = fork_safe<impl>(
        client_core::of(c), permit_demand_of(path, std::nullopt), std::move(options));
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
        check_count(permits, "a semaphore");
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
    return report(ec, [&]() -> std::uint32_t {
        const auto answers = impl_->look({request::children(impl_->demand.directory)});
        return impl_->demand.free_of(impl_->limit_in(answers.front()), answers.at(1).names);
    });
}

std::vector<participant> semaphore::participants(std::error_code& ec) {
    return report(ec, [&]() -> std::vector<participant> {
        auto answers = impl_->look({request::children(impl_->demand.directory),
                                    request::children(impl_->queue.directory)});
        std::erase_if(answers[1].names, [](const auto& name) { return !permits_of(name); });
        return impl_->participants(answers[1].names, answers[2].names);
    });
}

bool semaphore::revoke(const participant& whom, std::error_code& ec) {
    return report(ec, [&] { return impl_->revoke(whom); });
}

const std::string& semaphore::path() const noexcept {
    return impl_->demand.semaphore;
}

}  // namespace latchkey::inline v0

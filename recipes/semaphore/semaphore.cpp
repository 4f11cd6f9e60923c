#include <latchkey/semaphore.hpp>

#include "client/blocking_read.hpp"
#include "client/fork_safe.hpp"
#include "queue/acquire_calls.hpp"
#include "queue/znode_names.hpp"
#include "semaphore/permit_terms.hpp"
#include "semaphore/permits.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <utility>

namespace latchkey {
namespace {

void check_count(std::uint32_t permits, const char* what) {
    if (permits == 0 || permits > most_permits) {
        throw error(errc::invalid_argument,
                    std::string(what) + " of " + std::to_string(permits) + " permits: give 1 to " +
                        std::to_string(most_permits));
    }
}

permit_terms permit_terms_of(const std::string& path, std::optional<std::uint32_t> limit) {
    permit_terms terms;
    terms.semaphore = path;
    terms.directory = path + "/permits";
    terms.limit = limit;
    return terms;
}

queue_recipe permit_queue_of(const client_core& core,
                             const std::string& path,
                             mutex_options options) {
    check_path(path);
    return queue_recipe_of(core, path + "/queue", semaphore_names, std::move(options), "permit");
}

}  // namespace

class semaphore::impl {
public:
    impl(const std::shared_ptr<client_core>& core, queue_recipe as, permit_terms t)
        : acquire(core, local_queue::admits::everybody),
          queue(std::move(as)),
          terms(std::move(t)) {}

    [[nodiscard]] std::shared_ptr<const queue_recipe> as(std::uint32_t permits) const {
        check_count(permits, "an acquire");
        return with_permits(queue, terms, permits);
    }

    /// The answers to a get of the semaphore and to the other requests.
    [[nodiscard]] std::vector<reply> look(std::vector<request> also) const {
        also.insert(also.begin(), request::get(terms.semaphore));
        std::vector<reply> answers = blocking_read(*acquire.core(), also);
        failure_of(answers.front().code, terms.semaphore).raise_unless(answers.front().ok());
        for (std::size_t i = 1; i < answers.size(); ++i) {
            const reply& r = answers[i];
            failure_of(r.code, also[i].path).raise_unless(r.ok() || r.code == result_code::no_node);
        }
        return answers;
    }

    [[nodiscard]] std::uint32_t limit_in(const reply& r) const {
        const auto limit = read_limit(r.data);
        if (!limit) {
            throw error(errc::malformed_participant,
                        '"' + escaped(terms.semaphore) +
                            "\" is not a semaphore: its data is not a limit; use another path");
        }
        return *limit;
    }

    const acquire_calls acquire;
    const queue_recipe queue;
    const permit_terms terms;
};

semaphore::semaphore(client& c, std::string path, std::uint32_t limit, mutex_options options) {
    check_count(limit, "a limit");
    const auto core = client_core::of(c);
    impl_ = fork_safe<impl>(
        core, permit_queue_of(*core, path, std::move(options)), permit_terms_of(path, limit));
}

semaphore::semaphore(client& c, std::string path, mutex_options options) {
    const auto core = client_core::of(c);
    impl_ = fork_safe<impl>(core,
                            permit_queue_of(*core, path, std::move(options)),
                            permit_terms_of(path, std::nullopt));
}

semaphore::~semaphore() = default;

hold semaphore::acquire(std::uint32_t permits, acquire_options options) {
    return acquire_within(permits, local_queue::for_ever, std::move(options));
}

hold semaphore::acquire(std::uint32_t permits, acquire_options options, std::error_code& ec) {
    return without_exception(ec, [&] { return acquire(permits, std::move(options)); });
}

hold semaphore::try_acquire(std::uint32_t permits) {
    return acquire_within(permits, std::chrono::nanoseconds::zero(), {});
}

hold semaphore::acquire_within(std::uint32_t permits,
                               std::chrono::nanoseconds limit,
                               acquire_options options) {
    return impl_->acquire.acquire(impl_->as(permits), limit, std::move(options));
}

void semaphore::async_acquire(std::uint32_t permits,
                              std::chrono::nanoseconds limit,
                              acquire_options options,
                              acquire_handler handler) {
    impl_->acquire.async_acquire(impl_->as(permits), limit, std::move(options), std::move(handler));
}

// ---- the limit ----

void semaphore::resize(std::uint32_t limit) {
    check_count(limit, "a limit");
    const reply now = impl_->look({}).front();
    static_cast<void>(impl_->limit_in(now));
    const reply r = blocking_read(*impl_->acquire.core(),
                                  request::set(path(), std::to_string(limit), now.stat.version));
    // A write that was sent again after a lost answer may find that the first one was applied.
    if (r.code != result_code::bad_version || this->limit() != limit) {
        failure_of(r.code, path()).raise_unless(r.ok());
    }
}

std::uint32_t semaphore::limit() {
    return impl_->limit_in(impl_->look({}).front());
}

std::uint32_t semaphore::available() {
    const auto answers = impl_->look({request::children(impl_->terms.directory)});
    const std::uint64_t taken = permits_taken(answers.at(1).names);
    const std::uint32_t limit = impl_->limit_in(answers.front());
    return taken < limit ? static_cast<std::uint32_t>(limit - taken) : 0;
}

std::vector<participant> semaphore::participants() {
    const std::string& taken = impl_->terms.directory;
    const std::string& queue = impl_->queue.directory;
    const auto answers = impl_->look({request::children(taken), request::children(queue)});
    std::vector<std::string> paths;
    for (const std::string& name : answers[1].names) {
        if (permits_of(name)) {
            paths.push_back(join_path(taken, name));
        }
    }
    const std::size_t holding = paths.size();
    for (const std::string& name : in_order(answers[2].names, semaphore_names)) {
        paths.push_back(join_path(queue, name));
    }
    std::vector<participant> found = impl_->acquire.examine(impl_->queue, paths);
    for (participant& p : found) {
        const bool holds =
            std::find(paths.begin(),
                      paths.begin() + std::ptrdiff_t(holding),
                      join_path(taken, p.name)) != paths.begin() + std::ptrdiff_t(holding);
        if (holds) {
            p.sequence = 0;
            p.permits = permits_of(p.name).value_or(0);
        }
    }
    return found;
}

bool semaphore::revoke(const participant& whom) {
    return whom.permits > 0 && permits_of(whom.name)
               ? impl_->acquire.revoke_in(impl_->terms.directory, whom)
               : impl_->acquire.revoke(impl_->queue, whom);
}

const std::string& semaphore::path() const noexcept {
    return impl_->terms.semaphore;
}

}  // namespace latchkey

#include <latchkey/multi_mutex.hpp>

#include "client/fork_safe.hpp"
#include "lock/exclusive_lock.hpp"
#include "queue/participant_record.hpp"
#include "queue/participants.hpp"
#include "session/request_check.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace latchkey::inline v0 {
namespace {

/// The most that a znode's name adds to the path of its directory: a slash, the GUID, the marker
/// and the digits.
constexpr std::size_t longest_znode_name = 64;

void check_apart(const std::vector<std::string>& paths) {
    const std::set<std::string_view> all(paths.begin(), paths.end());
    for (const std::string& path : paths) {
        for (std::string_view up = path; up != "/";) {
            up = parent_of(up);
            if (all.contains(up)) {
                throw error(
                    errc::invalid_argument,
                    '"' + escaped(path) + "\" lies below \"" + escaped(up) +
                        "\", and both are to be locked: the directory of a lock may contain "
                        "only its participants; choose separate paths");
            }
        }
    }
}

/// The znodes are created together, so they must fit into one request.
void check_size(const client_core& core, const queue_recipe& recipe, std::size_t data) {
    std::vector<request> together;
    const std::vector<std::string> paths = recipe.directories();
    for (const std::string& path : paths) {
        const std::string znode = join_path(path, std::string(longest_znode_name, 'n'));
        together.push_back(request::create(core.chroot() + znode,
                                           std::string(data, ' '),
                                           create_mode::ephemeral_sequential,
                                           *recipe.access));
        // Each record is created together with a check.
        if (recipe.options().lock_delay.count() > 0) {
            together.push_back(request::check(core.chroot() + znode));
        }
    }
    if (!acceptable(request::multi(std::move(together)))) {
        throw error(errc::invalid_argument,
                    std::to_string(paths.size()) + " paths do not fit into one request of " +
                        std::to_string(largest_request) + " bytes: give fewer or shorter paths");
    }
}

queue_recipe together(const client_core& core,
                      std::vector<std::string> paths,
                      lock_options options) {
    if (paths.empty()) {
        throw error(errc::invalid_argument, "the list of paths is empty: give at least one");
    }
    for (const std::string& path : paths) {
        check_path(path);
    }
    std::sort(paths.begin(), paths.end());
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
    check_apart(paths);
    const std::size_t data = options.data ? options.data->size() : longest_record;
    queue_recipe recipe = queue_recipe_of(core, paths.front(), lock_names, std::move(options));
    recipe.set_options([&paths](queue_options& own) {
        own.more_directories.assign(paths.begin() + 1, paths.end());
    });
    check_size(core, recipe, data);
    return recipe;
}

}  // namespace

class multi_mutex::impl : public exclusive_lock {
public:
    impl(const std::shared_ptr<client_core>& core, queue_recipe p)
        : exclusive_lock(core, std::move(p)), paths(recipe->directories()) {}

    const std::vector<std::string> paths;
};

multi_mutex::multi_mutex(const client& c, std::vector<std::string> paths, lock_options options) {
    const auto core = client_core::of(c);
    impl_ = fork_safe<impl>(core, together(*core, std::move(paths), std::move(options)));
}

multi_mutex::~multi_mutex() = default;

hold multi_mutex::acquire_within(std::chrono::nanoseconds timeout,
                                 acquire_options options,
                                 std::error_code& ec) {
    return report(ec, [&] {
        return impl_->acquire.acquire_within(impl_->recipe, timeout, std::move(options));
    });
}

awaitable<hold> multi_mutex::await_acquire(std::chrono::nanoseconds timeout,
                                           acquire_options options) {
    return impl_->acquire.await_acquire(impl_->recipe, timeout, std::move(options));
}

void multi_mutex::start_acquire(std::chrono::nanoseconds timeout,
                                acquire_options options,
                                acquire_handler handler) {
    impl_->acquire.start_acquire(impl_->recipe, timeout, std::move(options), std::move(handler));
}

// ---- Lockable ----

bool multi_mutex::lock_within(std::chrono::nanoseconds limit) {
    return impl_->lock_within(limit);
}

void multi_mutex::unlock() noexcept {
    impl_->unlock();
}

hold& multi_mutex::held() {
    return impl_->held();
}

std::vector<participant> multi_mutex::holders(std::error_code& ec) {
    return report(ec, [&] {
        std::vector<participant> found;
        for (const std::string& path : paths()) {
            if (auto p = first_participant(impl_->acquire.core(), path, lock_names)) {
                found.push_back(std::move(*p));
            }
        }
        return found;
    });
}

const std::vector<std::string>& multi_mutex::paths() const noexcept {
    return impl_->paths;
}

}  // namespace latchkey::inline v0

#include <latchkey/recursive_mutex.hpp>

#include "client/fork_safe.hpp"
#include "lock/exclusive_lock.hpp"
#include "queue/participants.hpp"
#include "text/path.hpp"

#include <cstdint>
#include <map>
#include <utility>

namespace latchkey::inline v0 {

class recursive_mutex::impl {
public:
    impl(const std::shared_ptr<client_core>& core, queue_recipe p)
        : recipe(std::make_shared<const queue_recipe>(std::move(p))), acquire(core, recipe) {}

    [[nodiscard]] bool forked() const { return acquire.core().forked(); }

    [[nodiscard]] bool lock(std::chrono::nanoseconds limit);

    const std::shared_ptr<const queue_recipe> recipe;
    const acquire_calls acquire;

    /// What a thread has locked.
    struct lock_of_a_thread {
        hold held;
        std::size_t count = 1;
    };

    mutable thread_mutex guard;
    /// Of several threads, if the next one was granted before one that has lost its lock unlocks.
    std::map<std::uint64_t, lock_of_a_thread> locked LATCHKEY_GUARDED_BY(guard);
};

recursive_mutex::recursive_mutex(const client& c, std::string path, lock_options options) {
    const auto core = client_core::of(c);
    impl_ = fork_safe<impl>(core, mutex_queue_of(*core, std::move(path), std::move(options)));
}

recursive_mutex::~recursive_mutex() = default;

bool recursive_mutex::lock_within(std::chrono::nanoseconds timeout, std::error_code& ec) {
    return report(ec, [&] { return impl_->lock(timeout); });
}

bool recursive_mutex::impl::lock(std::chrono::nanoseconds limit) {
    acquire.core().check_not_forked();  // a thread of the parent may have held the guard
    const auto self = thread_number();
    {
        const monitor_lock guarded(guard);
        if (const auto own = locked.find(self); own != locked.end()) {
            const bool valid = own->second.held.valid();
            if (!valid && limit == no_timeout) {
                throw error(errc::hold_lost,
                            "this thread has lost \"" + escaped(recipe->directory) + "\" (" +
                                to_string(own->second.held.why_lost()) +
                                "); unlock it as often as it was locked, and lock it again");
            }
            own->second.count += valid ? 1 : 0;
            return valid;
        }
    }
    hold granted = acquire.acquire_within(recipe, limit, {});
    if (is_empty(granted)) {
        return false;
    }
    const monitor_lock guarded(guard);
    locked.emplace(self, lock_of_a_thread{std::move(granted)});
    return true;
}

void recursive_mutex::unlock() {
    if (impl_->forked()) {
        return;
    }
    hold released;
    const monitor_lock lock(impl_->guard);
    const auto own = impl_->locked.find(thread_number());
    if (own == impl_->locked.end()) {
        throw error(std::make_error_code(std::errc::operation_not_permitted),
                    "this thread has not locked \"" + escaped(path()) + '"');
    }
    if (--own->second.count == 0) {
        released = std::move(own->second.held);
        impl_->locked.erase(own);
    }
}

std::size_t recursive_mutex::depth() const {
    if (impl_->forked()) {
        return 0;
    }
    const monitor_lock lock(impl_->guard);
    const auto own = impl_->locked.find(thread_number());
    return own != impl_->locked.end() ? own->second.count : 0;
}

hold& recursive_mutex::held() {
    impl_->acquire.core().check_not_forked();
    const monitor_lock lock(impl_->guard);
    const auto own = impl_->locked.find(thread_number());
    if (own == impl_->locked.end()) {
        throw error(errc::hold_lost, "this thread has not locked \"" + escaped(path()) + '"');
    }
    return own->second.held;
}

std::vector<participant> recursive_mutex::participants(std::error_code& ec) {
    return report(ec, [&] { return list_participants(impl_->acquire.core(), path(), lock_names); });
}

std::optional<participant> recursive_mutex::holder(std::error_code& ec) {
    return report(ec, [&] { return first_participant(impl_->acquire.core(), path(), lock_names); });
}

bool recursive_mutex::revoke(const participant& whom, std::error_code& ec) {
    return report(ec, [&] { return revoke_in(impl_->acquire.core(), path(), lock_names, whom); });
}

const std::string& recursive_mutex::path() const noexcept {
    return impl_->recipe->directory;
}

}  // namespace latchkey::inline v0
